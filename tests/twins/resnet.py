"""Residual blocks, stages and whole networks."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

TWINS = (
    Twin(
        "resnet",
        reference="pt_reference.resnet:resnet",
        candidate="ms_models.resnet:resnet",
        configs=grid(depth=[50, 34, 18], num_classes=10),
        inputs=[normal(2, 3, 64, 64)],
    ),
    Twin(
        "resnet_deep",
        reference="pt_reference.resnet:resnet",
        candidate="ms_models.resnet:resnet",
        configs=grid(depth=[152, 101], num_classes=10),
        inputs=[normal(2, 3, 64, 64)],
        level="nightly",
    ),
    Twin(
        "resnet_imagenet",
        reference="pt_reference.resnet:resnet",
        candidate="ms_models.resnet:resnet",
        configs=grid(depth=50, num_classes=1000),
        inputs=[normal(4, 3, 224, 224)],
        level="nightly",
    ),
    Twin(
        "resnet_stage",
        reference="pt_reference.resnet:stage",
        candidate="ms_models.resnet:stage",
        configs=(
            *grid(block="Bottleneck", inplanes=64, planes=32, blocks=2, stride=2),
            *grid(block="BasicBlock", inplanes=32, planes=64, blocks=2, stride=2),
        ),
        inputs=[normal(2, "inplanes", 15, 12)],
    ),
    Twin(
        "basic_block",
        reference="pt_reference.resnet:basic_block",
        candidate="ms_models.resnet:BasicBlock",
        configs=(*grid(inplanes=32, planes=[32, 64], stride=[1, 2]),),
        inputs=[normal(2, "inplanes", 15, 12)],
    ),
    Twin(
        "bottleneck",
        reference="pt_reference.resnet:bottleneck",
        candidate="ms_models.resnet:Bottleneck",
        configs=grid(inplanes=[64, 128], planes=32, stride=[1, 2]),
        inputs=[normal(2, "inplanes", 15, 12)],
    ),
    Twin(
        "bottleneck_in_half",
        reference="pt_reference.resnet:bottleneck",
        candidate="ms_models.resnet:Bottleneck",
        # Small enough to move every activation off its kink, which in float16 is wide.
        configs=grid(inplanes=[16, 32], planes=8, stride=[1, 2]),
        inputs=[normal(2, "inplanes", 5, 4)],
        dtypes=("float16",),
    ),
    Twin(
        "bottleneck_wide",
        reference="pt_reference.resnet:WideBottleneck",
        candidate="ms_models.resnet:WideBottleneck",
        configs=(
            *grid(in_planes=32, out_planes=32, stride=1),
            *grid(in_planes=32, out_planes=48, stride=2),
        ),
        inputs=[normal(2, "in_planes", 14, 11)],
    ),
    Twin(
        "bottleneck_pooled",
        reference="pt_reference.resnet:PooledBottleneck",
        candidate="ms_models.resnet:PooledBottleneck",
        configs=grid(in_planes=64, out_planes=128, stride=[1, 2]),
        inputs=[normal(2, "in_planes", 15, 12)],
        rename={"e2.0": "conv2", "e2.1": "bn2", "down_sample_layer": "downsample"},
    ),
    Twin(
        "bottleneck_pooled_identity",
        reference="pt_reference.resnet:PooledBottleneck",
        candidate="ms_models.resnet:PooledBottleneck",
        configs=grid(in_planes=64, out_planes=64, stride=1),
        inputs=[normal(2, "in_planes", 15, 12)],
        rename={"e2.0": "conv2", "e2.1": "bn2"},
    ),
)
