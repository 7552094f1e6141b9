"""Attention and the layers of a transformer, without dropout, which draws."""

from equivalence.declare.draws import given, normal
from equivalence.declare.twin import Twin, grid

DENSE = {"dense1": "linear1", "dense2": "linear2"}


def twin(name, layer, inputs, configs, **more) -> Twin:
    """Both frameworks have the layer, of the same name and arguments."""
    return Twin(
        name,
        reference=f"torch.nn:{layer}",
        candidate=f"mindspore.nn:{layer}",
        inputs=inputs,
        configs=configs,
        **more,
    )


def layers(**more):
    """A grid of small layers of a transformer."""
    sizes = {"d_model": 12, "nhead": 3, "dim_feedforward": 20, "dropout": 0.0}
    return grid(**sizes, **more)


TWINS = (
    twin(
        "attention",
        "MultiheadAttention",
        [normal(2, 4, "embed_dim"), normal(2, 5, "embed_dim"), normal(2, 5, "embed_dim")],
        grid(embed_dim=12, num_heads=[3, 1], batch_first=True),
    ),
    Twin(
        "masked_attention",
        reference="pt_reference.attention:MaskedSelfAttention",
        candidate="ms_models.attention:MaskedSelfAttention",
        inputs=[normal(2, 5, "embed_dim"), given(2, 5, values=[[0] * 5, [0, 0, 0, 1, 1]])],
        configs=grid(embed_dim=12, num_heads=3),
        without={"masked row": "ops.softmax computes no row behind one that is masked as a whole"},
    ),
    twin(
        "transformer_encoder_layer",
        "TransformerEncoderLayer",
        [normal(4, 2, "d_model")],
        layers(activation=["relu", "gelu"], norm_first=[False, True]),
        rename=DENSE,
    ),
    Twin(
        "transformer_encoder",
        reference="pt_reference.attention:transformer_encoder",
        candidate="ms_models.attention:transformer_encoder",
        inputs=[normal(4, 2, "d_model")],
        configs=layers(num_layers=2),
        rename=DENSE,
    ),
    twin(
        "transformer_decoder_layer",
        "TransformerDecoderLayer",
        [normal(4, 2, "d_model"), normal(3, 2, "d_model")],
        layers(norm_first=[False, True]),
        rename=DENSE,
    ),
)
