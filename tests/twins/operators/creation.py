"""Operators that make tensors. An input gives the dtype and nothing else."""

from hypothesis import strategies as st

from equivalence.declare.draws import normal
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import arguments

OWN = "ms_models.creation:"
SIZES = [(2, 3), (1,), (4, 0), ()]
STEPS = [1, 2, -1, 0.5, -0.25, 0.1, -0.3, 0.7]


def given(**more):
    """These arguments, and an input of the dtype that is wanted."""

    def space(draw, _):
        return [normal(2)], arguments(draw, more)

    return space


def _range(draw, _):
    start, step = draw(st.integers(-4, 4)), draw(st.sampled_from(STEPS))
    far = draw(st.integers(0, 9))
    end = start + (far if step > 0 else -far)
    return [normal(2)], {"start": start, "end": end, "step": step}


def _made(name: str, space, *apis: str) -> Operator:
    counterparts = (to(api, through=OWN + api.replace(".", "_")) for api in apis)
    return Operator(f"torch.{name}", space, *counterparts)


OPERATORS = (
    _made("arange", _range, "ops.arange"),
    _made("linspace", given(start=[-1, 0.5], end=[2, -3], steps=[1, 2, 7, 50]), "ops.linspace"),
    _made("eye", given(n=[1, 3, 4], m=[1, 3, 5]), "ops.eye", "mint.eye"),
    _made("ones", given(size=SIZES), "ops.ones", "mint.ones"),
    _made("zeros", given(size=SIZES), "ops.zeros", "mint.zeros"),
    _made("full", given(size=SIZES, fill_value=[0, -1.5, 3]), "ops.full"),
)
