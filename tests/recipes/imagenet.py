"""ResNets as they are trained on ImageNet."""

from tests.recipes.making import fed, recipe

SCHEDULE = {"num_classes": 10, "warmup_steps": 5, "total_steps": 450}

RECIPES = (
    recipe(
        "resnet18_on_imagenet",
        "resnet_on_imagenet",
        fed("imagenet_eval", resize=36, crop=32, batch_size=4),
        {"depth": 18, **SCHEDULE},
        steps=1,
    ),
    recipe(
        "resnet50_on_imagenet",
        "resnet_on_imagenet",
        fed("imagenet_eval", resize=256, crop=224, batch_size=4),
        {"depth": 50, **SCHEDULE},
        steps=1,
        level="nightly",
    ),
)
