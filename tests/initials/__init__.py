"""The declared comparisons of initialisers."""

from equivalence.declare.twin import grid
from equivalence.initials.compare import Initial

RECIPES = [
    "he_normal",
    "he_uniform",
    "xavier_normal",
    "xavier_uniform",
    "truncated_normal",
    "truncated_normal_in_values",
    "lecun_normal",
    "normal",
    "ones",
    "zeros",
]

RESNET = {"reference": "pt_reference.resnet:resnet", "candidate": "ms_models.resnet:resnet"}
CONV = {
    "reference": "pt_reference.initializers:conv",
    "candidate": "ms_models.initializers:conv",
}

INITIALS = (
    Initial(
        "resnet_of_basic_blocks",
        configs=grid(depth=18, zero_init_residual=[False, True]),
        **RESNET,
    ),
    Initial(
        "resnet_of_bottlenecks",
        configs=grid(depth=50, zero_init_residual=[False, True]),
        level="nightly",
        **RESNET,
    ),
    Initial(
        "convolution",
        # in, out and their mean are three numbers
        configs=grid(in_planes=24, out_planes=64, kernel_size=3, init=RECIPES)
        + grid(in_planes=48, out_planes=96, kernel_size=3, init="he_normal", groups=4),
        **CONV,
    ),
    Initial(
        "dense",
        reference="pt_reference.initializers:dense",
        candidate="ms_models.initializers:dense",
        configs=grid(in_features=200, out_features=80, init=RECIPES),
    ),
    # What each framework gives a layer that is told nothing.
    Initial(
        "default_convolution",
        reference="torch.nn:Conv2d",
        candidate="ms_models.conv:conv2d",
        configs=grid(in_channels=24, out_channels=64, kernel_size=3, bias=True),
    ),
    Initial(
        "default_dense",
        reference="torch.nn:Linear",
        candidate="ms_models.dense:dense",
        configs=grid(in_features=200, out_features=80),
    ),
    Initial(
        "default_batch_norm2d",
        reference="torch.nn:BatchNorm2d",
        candidate="ms_models.norm:batch_norm2d",
        configs=grid(num_features=24),
    ),
    Initial(
        "default_layer_norm",
        reference="torch.nn:LayerNorm",
        candidate="ms_models.norm:layer_norm",
        configs=grid(normalized_shape=24),
    ),
    Initial(
        "default_embedding",
        reference="torch.nn:Embedding",
        candidate="ms_models.initializers:embedding",
        configs=grid(num_embeddings=50, embedding_dim=16),
        differs="torch draws with standard deviation 1, MindSpore with 0.01",
    ),
    Initial(
        "default_truncated_normal",
        configs=grid(in_planes=24, out_planes=64, kernel_size=3, init="truncated_normal_default"),
        differs="torch draws with standard deviation 1, MindSpore with 0.01",
        **CONV,
    ),
    Initial(
        "variance_scaling",
        configs=grid(in_planes=24, out_planes=64, kernel_size=3, init="variance_scaling"),
        differs="MindSpore 2.10 draws a uniform distribution where a truncated normal is asked for",
        **CONV,
    ),
)
