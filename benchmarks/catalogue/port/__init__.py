"""Ports PyTorch networks to MindSpore by written rules, without calling PyTorch to compute.

cells.py: a rule for each class of layers.
functions.py: a MindSpore function for each function and method of PyTorch.
windows.py: the functions of torchvision's Swin transformers.
port.py: traces a network and writes the source of its MindSpore cell by these rules.
"""
