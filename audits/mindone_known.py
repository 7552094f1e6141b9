"""What is known of mindone's ports: which differ from their originals, and why.

A cause names the statement of the port, and that of the original: files below
`mindone/transformers/models/` and `transformers/models/`, with the line.
"""

from collections.abc import Mapping
from typing import Any

from audits.mindcv_row import unpaired
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import integers

MS, PT = "audits.ms.mindone:", "audits.pt.mindone:"
"""Ports and originals with the cause taken out."""

NO_BOUND = 20.0
"""How large a difference is depends on what is drawn."""

BY_TANH = 1e-4
"""How far outputs are off through MindSpore's kernel of tanh on a CPU, at the most."""

SPLIT = (
    "MindSpore's gradient of mint.split on a CPU is in another order where a part is transposed "
    "(findings/gradient/mint_split_gradient_of_transposed.py)"
)
POSITIONS = "the places of the tokens are an int64 Parameter that is trainable"
CONV1D = "mindone's own Conv1d is a Conv2d of one row"


def gradients(cause: str, **outputs: float) -> Difference:
    """A known difference of the way back alone.

    outputs: how far the outputs may be off, where MindSpore's tanh on a CPU adds to it.
    """
    told = {f"{name}.*": bound for name, bound in outputs.items()}
    return Difference(cause, {"gradient:*": NO_BOUND, **told})


def raises(cause: str, error: str, kind: str = "SideError") -> Difference:
    """Why one side cannot be run, with words of its error."""
    return Difference(cause, Raised(kind, error))


DIFFERS: Mapping[str, Difference] = {
    "codegen": gradients(
        f"{SPLIT}: codegen/modeling_codegen.py:165, query, value, key = mint.split(...), then "
        "permute; the original has torch.split",
        output=BY_TANH,
    ),
    "fnet": gradients(
        "the Fourier transform runs in NumPy, through which no gradient passes: "
        "fnet/modeling_fnet.py:94, np.fft.fft(out, axis=axis), for fnet/modeling_fnet.py:81, "
        "torch.fft.fft(out, axis=axis)",
        output=BY_TANH,
    ),
    "minimax": gradients(
        f"{SPLIT}: minimax/modeling_minimax.py:180, mint.split(qkv_states, ...), then transpose; "
        "the original has torch.split"
    ),
    "modernbert": Difference(
        "local layers turn by the angles of global ones, since the rotary embedding leaves its "
        "`base` unused: modernbert/modeling_modernbert.py:101, "
        "self.rope_init_fn(self.config), for modernbert/modeling_modernbert.py:479, "
        "config_copy.rope_theta = rope_theta",
        {"*": NO_BOUND},
    ),
    "qwen3_next": gradients(
        f"{SPLIT}: qwen3_next/modeling_qwen3_next.py:688, query, key, value = mint.split(...); "
        "the original has torch.split"
    ),
    "xlnet": gradients(
        "gradients pass through the memories: xlnet/modeling_xlnet.py:1022, return new_mem, for "
        "xlnet/modeling_xlnet.py:1110, return new_mem.detach()"
    ),
    "yoso": gradients(
        "the expectation has its own derivative, in the original another that is declared: "
        "yoso/modeling_yoso.py:106, (1 - mint.acos(...) / math.pi) ** hash_code_len, for "
        "yoso/modeling_yoso.py:133, weighted_exp = torch.matmul(grad, ...) * expectation"
    ),
}
"""Family -> the known difference."""

REFUSED: Mapping[str, Difference] = {
    "apertus": raises(
        "xIELU makes two weights of bfloat16 in a network of float32, on both sides, which do not "
        "hold what is drawn in float32: mindone/transformers/activations.py:230, "
        "ms.tensor(alpha_p_init, dtype=dtype)",
        "does not hold what was loaded into it",
        "WeightError",
    ),
    "gpt_bigcode": raises(
        "a dropout is told how much it drops where MindSpore's takes how much it keeps: "
        "gpt_bigcode/modeling_gpt_bigcode.py:401, nn.Dropout(config.embd_pdrop); 0.0 raises, 0.1 "
        "drops nine of ten",
        "keep_prob",
    ),
    "llama4": raises(
        "MindSpore has no gradient of a product of complex numbers: "
        "llama4/modeling_llama4.py:207, view_as_real(xq_ * freqs_cis)",
        "gradient not support for complex type",
    ),
    "marian": unpaired(
        "the table of sines is trained: marian/modeling_marian.py:91, ms.Parameter(out), for "
        "marian/modeling_marian.py:100, nn.Parameter(out, requires_grad=False)"
    ),
    "mlcd": unpaired(f"{POSITIONS}: mlcd/modeling_mlcd.py:120; the original has a buffer"),
    "pegasus_x": raises(
        "raises TypeError without a mask: pegasus_x/modeling_pegasus_x.py:1027, "
        "mint.ones(*input_shape, dtype=...); mint.ones takes the shape as one argument",
        "ones() takes 1 positional argument",
    ),
    "roformer": unpaired(
        "the table of sines is trained: roformer/modeling_roformer.py:76, "
        "mindspore.Parameter(out), for nn.Parameter(out, requires_grad=False)"
    ),
    "vilt": raises(
        "the order of the patches is drawn at random on both sides: vilt/modeling_vilt.py:170, "
        "mint.multinomial, for vilt/modeling_vilt.py:156, torch.multinomial",
        "random numbers",
        "DeclarationError",
    ),
    "vit": raises(
        "raises AttributeError where it is built, since a Tensor has no set_data: "
        "vit/modeling_vit.py:398, zeros_(module.bias.data)",
        "has no attribute 'set_data'",
    ),
    "xlm_roberta": unpaired(
        f"{POSITIONS}: xlm_roberta/modeling_xlm_roberta.py:85; the original has a buffer"
    ),
    "xlstm": raises(
        "raises TypeError: xlstm/modeling_xlstm.py:657, mint.zeros(batch_size, nh, dhqk, dhhv, "
        "...); mint.zeros takes the shape as one argument",
        "zeros() takes 1 positional argument",
    ),
}
"""Family -> why the two cannot be compared."""

ALIKE: Mapping[str, Mapping[str, Any]] = {
    "apertus": {"candidate": MS + "with_weights_of_float32"},
    "codegen": {"candidate": MS + "with_another_split"},
    "fnet": {"reference": PT + "fnet_without_gradient"},
    "gpt_bigcode": {
        "config": {"resid_pdrop": 0.1, "embd_pdrop": 0.1},
        "settings": {"Dropout.p": "that it is told how much it drops"},
    },
    "marian": {"candidate": MS + "with_frozen_tables"},
    "minimax": {"candidate": MS + "with_another_split"},
    "mlcd": {"candidate": MS + "with_frozen_tables"},
    "modernbert": {"config": {"local_rope_theta": 160000.0}},
    "pegasus_x": {"inputs": {"attention_mask": integers(2, 40, low=1, high=2)}},
    "qwen3_next": {"candidate": MS + "with_another_split"},
    "roformer": {"candidate": MS + "with_frozen_tables"},
    "vit": {"candidate": MS + "without_initial_weights"},
    "xlm_roberta": {"candidate": MS + "with_frozen_tables"},
    "xlnet": {"config": {"use_mems_eval": False}},
    "xlstm": {"candidate": MS + "with_other_zeros"},
    "yoso": {"reference": PT + "yoso_differentiated"},
}
"""Family -> what is otherwise in the twin without the cause; `config` is added to its own."""

FIELDS: Mapping[str, Mapping[str, Any]] = {
    "apertus": {"constants": ["beta"]},
    "canine": {
        "rename": {
            path: f"{path}.reshape()"
            for path in ("net.chars_to_molecules.conv.weight", "net.projection.conv.weight")
        }
    },
    "convbert": {
        "rename": {
            path: f"{path}.reshape()"
            for layer in range(2)
            for part in ("depthwise", "pointwise")
            for path in (
                f"net.encoder.layer.{layer}.attention.self.key_conv_attn_layer.{part}.weight",
            )
        }
    },
    "mamba": {"settings": {"Conv1d.kind": CONV1D}},
    "rwkv": {"settings": {"ConstantPad2d.padding": "the port cuts off the last row by itself"}},
}
"""Family -> further fields of its twins."""
