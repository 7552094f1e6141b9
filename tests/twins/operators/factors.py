"""Factors of matrices and systems of equations."""

from hypothesis import strategies as st

from equivalence.declare.difference import Difference
from equivalence.declare.draws import definite, normal, triangular
from equivalence.declare.operator import LIMITS, Operator, to
from equivalence.declare.spaces import Values, arguments, shape, values
from tests.twins.operators.elementwise import constant
from tests.twins.operators.linear import NOT_ONE, square
from tests.twins.operators.reductions import GRADIENT
from tests.twins.operators.spaces_shapes import filled

LIMITS["lower_gradient"] = lambda example: (
    not example.arguments["upper"] and example.inputs[0].differentiable
)
LIMITS["stack"] = lambda example: len(example.inputs[0].shape) > 2
LIMITS["stack_of_stacks"] = lambda example: len(example.inputs[0].shape) > 3

UPPER = {"upper": [False, True]}


def _rectangular(*kinds: Values, **given):
    """A matrix, or a batch of them."""

    def space(draw, without):
        batch = shape(draw, without | {"empty"}, 0, 1)
        sizes = draw(st.integers(1, 6)), draw(st.integers(1, 6))
        return [values(draw, without, *kinds)(*batch, *sizes)], arguments(draw, given)

    return space


def _system(**given):
    """Matrices and right-hand sides."""

    def space(draw, without):
        (matrix,), told = filled(square(definite, **given))(draw, without)
        return [matrix, normal(*matrix.shape[:-1], draw(st.integers(1, 4)))], told

    return space


def _factor(draw, without):
    (matrix,), told = filled(square(definite, **UPPER))(draw, without)
    factor = triangular(*matrix.shape, **told)
    return [factor.constant() if draw(st.booleans()) else factor], told


def _factored_system(draw, without):
    (factor,), told = _factor(draw, without)
    return [normal(*factor.shape[:-1], draw(st.integers(1, 4))), factor], told


OWN = "ms_models.factors:"


def _operator(name, space, *counterparts):
    return Operator(name, space, *counterparts, dtypes=("float32",))


OPERATORS = (
    _operator(
        "torch.linalg.cholesky",
        filled(square(definite, constant(definite), **UPPER)),
        to("ops.cholesky", without=GRADIENT),
    ),
    _operator(
        "torch.cholesky_inverse",
        _factor,
        to(
            "ops.cholesky_inverse",
            without={
                "lower_gradient": "is wrong",
                "stack": "the gradient of a stack is refused",
            },
            differs={
                "cholesky_inverse(definite(3, 3), upper=True)": Difference(
                    "the other triangle is read", {"output.0": 4.0, "gradient:input[0]": 8.0}
                ),
            },
        ),
    ),
    _operator(
        "torch.cholesky_solve",
        _factored_system,
        to("ops.cholesky_solve", without={"stack_of_stacks": "refused"}),
    ),
    _operator(
        "torch.linalg.qr",
        _rectangular(normal, constant(normal), mode=["reduced", "complete"]),
        to("ops.qr", without=GRADIENT),
    ),
    _operator("torch.linalg.svdvals", _rectangular(normal), to("ops.svd", through=OWN + "svdvals")),
    _operator(
        "torch.linalg.pinv",
        _rectangular(normal),
        to("ops.pinv", without={"thin_stack": "the gradient of a stack of one column is refused"}),
    ),
    _operator("torch.logdet", filled(square(definite)), to("ops.logdet", without=NOT_ONE)),
    _operator(
        "torch.linalg.eigvalsh",
        filled(square(definite)),
        to(
            "scipy.linalg.eigh",
            through=OWN + "eigvalsh",
            without={"stack": "takes one matrix"},
        ),
    ),
    _operator(
        "torch.linalg.solve_triangular",
        _system(unitriangular=[False, True], **UPPER),
        to("scipy.linalg.solve_triangular", through=OWN + "solve_triangular"),
    ),
    _operator(
        "torch.linalg.solve",
        _system(),
        to("ops.inverse", through=OWN + "solve_by_inverse", without=NOT_ONE),
    ),
)
