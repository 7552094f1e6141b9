"""The operators: each torch function, its MindSpore counterparts, and what examples are drawn.

One module per family; each has a tuple `OPERATORS`.
"""

import functools

from equivalence.declare.operator import Operator
from tests.collecting import collect
from tests.twins.operators.double import CONSEQUENCES
from tests.twins.operators.mint import COUNTERPARTS as OF_MINT
from tests.twins.operators.only_ascend import COUNTERPARTS, ON_ASCEND
from tests.twins.operators.special import ALWAYS

LONGEST_FIRST = ("elementwise", "comparisons", "promotion", "activations", "reductions")


@functools.cache
def operators(device: str = "cpu") -> tuple[Operator, ...]:
    """Every operator, family by family, with the counterparts that a device has.

    Raises DeclarationError where one would be lost.
    """
    collected = collect(__name__, Operator, LONGEST_FIRST)
    return tuple(
        each.beside(
            *([COUNTERPARTS[each.name]] if each.name in COUNTERPARTS else ()),
            *OF_MINT.get(each.name, ()),
            *([ON_ASCEND[each.name]] if device == "ascend" and each.name in ON_ASCEND else ()),
        )
        .meeting(*ALWAYS.get(each.name, ()))
        .limited("float64", CONSEQUENCES.get(each.name, {}))
        for each in collected
    )
