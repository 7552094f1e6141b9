"""The classification networks of torchvision at their own sizes, ported by rules."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin

EVALUATED = ("eval",)
BOTH = ("train", "eval")

OPTIONS = {
    "googlenet": {"aux_logits": False, "init_weights": False},
    "inception_v3": {"aux_logits": False, "init_weights": False},
    "maxvit_t": {"input_size": (224, 224)},
}
SIZES = {"inception_v3": 299}


def vision(
    name: str,
    batch: int = 2,
    phases: tuple[str, ...] = BOTH,
    executions: tuple[str, ...] = ("pynative",),
) -> Twin:
    """A network of torchvision on a batch of images; dropout as in evaluation."""
    size = SIZES.get(name, 224)
    return Twin(
        f"vision_{name}",
        reference="benchmarks.catalogue.pt.vision:network",
        candidate="benchmarks.catalogue.port.port:torchvision",
        inputs=[normal(batch, 3, size, size)],
        configs=({"name": name, **OPTIONS.get(name, {})},),
        phases=phases,
        executions=executions,
        random_layers="eval",
    )


GRAPH = ("pynative", "graph")

# Networks with stochastic depth draw random numbers by a function, not by a layer, while training.
TWINS = (
    vision("alexnet", executions=GRAPH),
    *(vision(f"vgg{depth}", 1, EVALUATED) for depth in (11, 13, 16, 19)),
    vision("vgg11_bn"),
    *(vision(f"vgg{depth}_bn", 1, EVALUATED) for depth in (13, 16, 19)),
    vision("resnet18", executions=GRAPH),
    *(vision(f"resnet{depth}") for depth in (34, 50)),
    *(vision(f"resnet{depth}", 1, EVALUATED) for depth in (101, 152)),
    vision("resnext50_32x4d"),
    vision("resnext101_32x8d", 1, EVALUATED),
    vision("wide_resnet50_2", 1, EVALUATED),
    vision("mobilenet_v2", executions=GRAPH),
    vision("mobilenet_v3_small", executions=GRAPH),
    vision("mobilenet_v3_large"),
    vision("densenet121"),
    *(vision(f"densenet{depth}", 1, EVALUATED) for depth in (161, 169, 201)),
    vision("squeezenet1_0"),
    vision("squeezenet1_1", executions=GRAPH),
    *(vision(f"shufflenet_v2_x{width}") for width in ("0_5", "1_0", "1_5", "2_0")),
    *(vision(f"mnasnet{width}") for width in ("0_5", "0_75", "1_0", "1_3")),
    vision("efficientnet_b0", 2, EVALUATED, GRAPH),
    *(vision(f"efficientnet_b{number}", 1, EVALUATED) for number in (1, 2, 3, 4)),
    vision("efficientnet_v2_s", 1, EVALUATED),
    *(vision(f"regnet_{kind}_400mf") for kind in "xy"),
    *(
        vision(f"regnet_{kind}_{size}", 1, EVALUATED)
        for kind in "xy"
        for size in ("1_6gf", "3_2gf")
    ),
    vision("convnext_tiny", 1, EVALUATED),
    vision("vit_b_32", 1, BOTH),
    vision("vit_b_16", 1, EVALUATED),
    vision("swin_t", 1, EVALUATED),
    vision("swin_v2_t", 1, EVALUATED),
    vision("maxvit_t", 1, EVALUATED),
    vision("googlenet"),
    vision("inception_v3", 2, EVALUATED),
)
