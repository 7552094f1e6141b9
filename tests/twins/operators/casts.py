"""Operators that change the dtype, or nothing but the gradient."""

from equivalence.declare.draws import booleans, normal, ties, whole
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import REAL, unary
from tests.twins.operators.spaces_shapes import same

DTYPES = ["float32", "float16", "int32", "int64", "bool"]

OPERATORS = (
    *(
        Operator(f"torch.Tensor.{name}", unary(normal, ties, whole, booleans), to(f"Tensor.{name}"))
        for name in ("float", "half", "int", "long", "bool")
    ),
    Operator(
        "torch.Tensor.to",
        unary(normal, ties, whole, booleans, dtype=DTYPES),
        to("Tensor.to", through="ms_models.creation:tensor_to"),
    ),
    Operator("torch.Tensor.type_as", same(2, normal, ties, whole), to("Tensor.type_as")),
    Operator(
        "torch.clone",
        unary(*REAL),
        to("ops.deepcopy"),
        to("Tensor.copy"),
        to("Tensor.copy_", through="ms_models.assignment:copied"),
    ),
    Operator("torch.Tensor.detach", unary(*REAL), to("ops.stop_gradient")),
)
