"""A few updates of small networks for vision: AdamW on a smoothed cross entropy."""

from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, grid
from tests.twins import convnets, resnet_assembled, vision_transformers

# The gradient of the keys' bias is 0 but for rounding, which is nothing beside this epsilon.
RECIPE = {"learning_rate": 1e-3, "weight_decay": 0.05, "eps": 1e-3, "label_smoothing": 0.1}


def trained(module, network: str, twin: str, height: int, width: int, **more) -> Twin:
    """Two updates of the network that a twin declares."""
    declared = next(each for each in module.TWINS if each.name == twin)
    return Twin(
        f"{twin}_by_adamw",
        reference="pt_reference.vision_steps:classifier_by_adamw",
        candidate="ms_models.vision_steps:classifier_by_adamw",
        configs=grid(network=network, **RECIPE, **declared.configs[0]),
        inputs=[normal(6, 3, height, width), integers(6, high=5)],
        steps=2,
        phases=("train",),
        executions=("pynative",),
        rename=declared.rename,
        random_layers=declared.random_layers,
        level="nightly",
        **more,
    )


TWINS = (
    trained(vision_transformers, "vit", "vit", 12, 12),
    trained(vision_transformers, "swin", "swin", 22, 14),
    trained(convnets, "convnext", "convnext", 32, 24),
    trained(convnets, "mobilenetv3", "mobilenetv3", 31, 24),
    trained(convnets, "efficientnet", "efficientnet", 31, 24),
    trained(resnet_assembled, "resnet", "resnet_wide", 46, 33),
)
