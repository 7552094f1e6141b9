"""What each framework gives a layer that is told nothing."""

from equivalence.declare.difference import Difference
from equivalence.declare.initial import Initial
from equivalence.declare.twin import grid

INITIALS = (
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
        differs=Difference(
            "torch draws with standard deviation 1, MindSpore with 0.01",
            {"parameter:weight": 4.4e4},
        ),
    ),
)
