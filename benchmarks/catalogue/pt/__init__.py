"""PyTorch references of the catalogue, in the files of their MindSpore twins."""

from equivalence import torchvision_schemas

torchvision_schemas.declare_missing()
