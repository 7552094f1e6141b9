"""PyTorch references, in the files of their MindSpore twins; nothing here imports MindSpore."""

from equivalence import torchvision_schemas

torchvision_schemas.declare_missing()
