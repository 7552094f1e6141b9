"""ResNets as they are trained on CIFAR-10."""

from tests.recipes.making import fed, recipe

RECIPES = (
    recipe(
        "resnet50_on_cifar10",
        "resnet_on_cifar10",
        # Not cropped: where a crop pads, pixels are equal, the windows of the max pooling tie, and
        # the gradient of the image may go to any of them.
        fed("cifar10_eval", size=64, batch_size=8, num_samples=8),
        {"depth": 50, "num_classes": 10},
        steps=1,
        level="nightly",
    ),
)
