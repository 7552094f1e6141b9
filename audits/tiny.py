"""Configurations of transformers so small that a network runs in a second."""

import ast
import importlib
import inspect
from typing import Any

from equivalence.errors import DeclarationError

WIDTH, HEADS = 32, 4

SIZES = f"""
    {WIDTH} hidden_size d_model n_embd embedding_size dim emb_dim embed_dim decoder_hidden_size
    {WIDTH} encoder_hidden_size word_embed_proj_dim projection_dim hidden_dim attention_hidden_size
    {WIDTH} output_hidden_size projector_dim
    {2 * WIDTH} intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim d_ff d_inner
    {2 * WIDTH} ffn_hidden_size moe_intermediate_size shared_expert_intermediate_size
    {2 * WIDTH} dim_feedforward ffn_inner_dim decoder_intermediate_size encoder_intermediate_size
    {2 * WIDTH} mlp_dim
    {HEADS} num_attention_heads n_head n_heads num_heads encoder_attention_heads
    {HEADS} decoder_attention_heads decoder_num_attention_heads encoder_num_attention_heads
    {HEADS} num_decoder_attention_heads
    {WIDTH // HEADS} head_dim d_kv attention_head_size v_head_dim patch_size
    2 num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers
    2 num_decoder_layers num_encoder_layers decoder_num_hidden_layers encoder_num_hidden_layers
    2 max_window_layers num_key_value_heads decoder_num_key_value_heads num_experts_per_tok
    2 encoder_num_key_value_heads
    4 num_experts num_local_experts n_routed_experts moe_num_experts
    0.0 dropout attention_dropout activation_dropout hidden_dropout_prob hidden_dropout
    0.0 attention_probs_dropout_prob resid_pdrop embd_pdrop attn_pdrop dropout_rate layerdrop
    0.0 encoder_layerdrop decoder_layerdrop drop_path_rate classifier_dropout
    False use_cache
    0 pad_token_id
    4 rotary_dim
    99 vocab_size
    64 max_position_embeddings n_positions n_ctx max_source_positions max_target_positions
    32 image_size
"""
"""Lines of a size and of the parameters of configurations that are it."""

SMALL: dict[str, Any] = {
    name: ast.literal_eval(size)
    for size, *names in (line.split() for line in SIZES.strip().splitlines())
    for name in names
}


def network(home: str, family: str, name: str, /, **own: Any) -> Any:
    """A small network of a family.

    home: "transformers.models" or "mindone.transformers.models".
    own: what its configuration has otherwise than `SIZES`; of a configuration inside, a dictionary.

    Raises DeclarationError where there is no such family or network, or no such parameter.
    """
    original = getattr(_module("transformers.models", family), name, None)
    kind = getattr(_module(home, family), name, None)
    if kind is None or original is None:
        raise DeclarationError(f"{home}.{family} has no network {name!r}; look into its modeling_*")
    return kind(config(original.config_class, **own))


def _module(home: str, family: str) -> Any:
    """The module with the networks of a family."""
    try:
        return importlib.import_module(f"{home}.{family}.modeling_{family}")
    except ModuleNotFoundError as error:
        if not str(error.name).startswith(home.partition(".")[0]):
            raise
        package = home.partition(".")[0]
        if error.name == package:
            raise DeclarationError(
                f"{package} is not installed; `make audit` installs it"
            ) from None
        raise DeclarationError(
            f"{home} has no family {family!r}; a family is the name of a folder there"
        ) from None


def config(kind: type, /, **own: Any) -> Any:
    """A small configuration of a class of transformers, with attention as plain operators."""
    told = inspect.signature(kind.__init__).parameters
    other = getattr(kind, "attribute_map", {})
    taken = {
        name: value
        for name, value in SMALL.items()
        if name in told and other.get(name, name) == name
    } | own
    for name, inner in getattr(kind, "sub_configs", {}).items():
        if isinstance(inner, type) and "Auto" not in inner.__name__:
            taken[name] = config(inner, **own.get(name, {})).to_dict()
    made = kind(**taken)
    made._attn_implementation = "eager"
    return made


def floating(value: Any, kind: type) -> tuple[Any, ...]:
    """The floating-point tensors in nested outputs, in order; `kind` is the class of a tensor."""
    if isinstance(value, kind):
        return (value,) if value.is_floating_point() else ()
    inner = value.values() if isinstance(value, dict) else value
    nested = inner if isinstance(value, dict | list | tuple) else ()
    return tuple(each for part in nested for each in floating(part, kind))
