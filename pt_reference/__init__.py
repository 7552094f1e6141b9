"""PyTorch references, in the files of their MindSpore twins; nothing here imports MindSpore."""
