"""Networks with dropout and other random layers: pinned, and compared by their laws."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid
from tests.twins.attention import DENSE

HERE, PLACES = "random_layers:", "random_places:"

TWINS = (
    Twin(
        "dropped_attention",
        reference="torch.nn:MultiheadAttention",
        candidate="mindspore.nn:MultiheadAttention",
        inputs=[normal(2, 4, "embed_dim"), normal(2, 5, "embed_dim"), normal(2, 5, "embed_dim")],
        configs=grid(embed_dim=12, num_heads=3, batch_first=True, dropout=0.1),
        phases=("train",),
        random_layers="eval",
    ),
    Twin(
        "dropped_encoder_layer",
        reference="torch.nn:TransformerEncoderLayer",
        candidate="mindspore.nn:TransformerEncoderLayer",
        inputs=[normal(4, 2, "d_model")],
        configs=grid(d_model=12, nhead=3, dim_feedforward=20, dropout=0.3),
        phases=("train",),
        rename=DENSE,
        random_layers="eval",
    ),
    Twin(
        "dropped_classifier",
        reference=f"pt_reference.{HERE}Classifier",
        candidate=f"ms_models.{HERE}Classifier",
        inputs=[normal(4, 3, 7, 5)],
        random_layers="eval",
    ),
    Twin(
        "drop_path",
        reference=f"pt_reference.{HERE}Residual",
        candidate=f"ms_models.{HERE}Residual",
        inputs=[normal(4, 3, 8)],
        random_layers=("DropPath",),
    ),
    Twin(
        "masked_drop_path",
        reference=f"pt_reference.{HERE}Residual",
        candidate=f"ms_models.{HERE}MaskedResidual",
        inputs=[normal(4, 3, 8)],
        phases=("train",),
        random_layers=("DropPath",),
    ),
    Twin(
        "dropped_attending",
        reference=f"pt_reference.{PLACES}Attending",
        candidate=f"ms_models.{PLACES}Attending",
        inputs=[normal(3, 5, 8)],
        random_layers="eval",
    ),
    Twin(
        "augmented",
        reference=f"pt_reference.{PLACES}Augmented",
        candidate=f"ms_models.{PLACES}Augmented",
        inputs=[normal(4, 7, 11)],
        random_layers=("Masks", "Noise", "Slopes"),
    ),
)
