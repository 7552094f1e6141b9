"""What draws random numbers in a network, and how it is pinned while the sides are compared.

layers: the random layers of a run as data, and the comparison of both sides' layers.
torch_draws: finds and pins the draws of PyTorch.
mindspore_draws: finds and pins the draws of MindSpore.
"""
