"""Residual blocks, stages and whole networks."""

from equivalence.draws import normal
from equivalence.twin import Twin, grid

TWINS = (
    Twin(
        "resnet",
        reference="pt_reference.resnet:resnet",
        candidate="ms_models.resnet:resnet",
        configs=grid(depth=[50, 34, 18], num_classes=10),
        inputs=[normal(2, 3, 64, 64)],
    ),
    Twin(
        "bottleneck",
        reference="pt_reference.resnet:bottleneck",
        candidate="ms_models.resnet:Bottleneck",
        configs=grid(inplanes=[64, 256], planes=64, stride=[1, 2]),
        inputs=[normal(2, "inplanes", 15, 12)],
        dtypes=("float32", "float16"),
    ),
)
