"""Which examples of an operator are compared, drawn with Hypothesis from the seed alone."""

import functools
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisWarning

from equivalence.declare.operator import (
    LIMITS,
    Counterpart,
    Example,
    Operator,
    OperatorCase,
    operator_case,
)
from equivalence.declare.spaces import examples
from equivalence.operators.decisions import cover, sides, size
from equivalence.releases import holds
from equivalence.seeds import seed_of

GATE_EXAMPLES, NIGHTLY_EXAMPLES = 6, 30
"""Examples of one exploration in PyNative mode: at the gate, and at the nightly level."""

PASSES = 4
"""At most this many passes over Hypothesis; a later pass replaces duplicates of earlier ones."""


@dataclass(frozen=True)
class Exploration:
    """One exploration: a counterpart of an operator, in one mode, on one device.

    operator: the operator.
    counterpart: the API of MindSpore that must equal it.
    execution: "pynative" or "graph".
    device: the place where the candidate runs.
    count: how many examples are drawn.
    """

    operator: Operator
    counterpart: Counterpart
    execution: str
    device: str
    count: int

    @property
    def name(self) -> str:
        """The name of the exploration; also its pytest id."""
        level = "few" if self.count == GATE_EXAMPLES else "many"
        how = f"{self.counterpart.api}@{self.execution}"
        return f"{self.operator.name}-{level}-{how}-{self.device}"

    @property
    def releases(self) -> str | None:
        """The releases of MindSpore that can make the call; None: all."""
        return self.counterpart.releases

    @property
    def without(self) -> frozenset[str]:
        """The limits of the counterpart, which no example is beyond."""
        return frozenset(self.counterpart.without)

    def case(self, example: Example) -> OperatorCase:
        """The case that compares one example."""
        return operator_case(self.operator, self.counterpart, example, self.execution, self.device)


def explorations(operator: Operator, device: str, count: int) -> Iterator[Exploration]:
    """Explorations of every counterpart; at the gate, only the first one is compiled."""
    compiled = [
        other
        for other in operator.counterparts
        if "graph" not in other.without and holds(other.releases)
    ]
    for counterpart in operator.counterparts:
        yield Exploration(operator, counterpart, "pynative", device, count)
        if counterpart in (compiled[:1] if count == GATE_EXAMPLES else compiled):
            yield Exploration(operator, counterpart, "graph", device, count)


def planned(exploration: Exploration, seed: int) -> list[Example]:
    """The examples that an exploration at the gate compares, in order, while none fails.

    In graph mode, the first one that is well-posed is the last one that is compared.
    """
    if exploration.execution == "graph":
        return draw_largest(exploration, seed)
    return [*always(exploration), *choose(exploration, seed)]


def choose(exploration: Exploration, seed: int) -> list[Example]:
    """Those of the examples drawn at the nightly level that together take most sides of decisions.

    What is always compared takes its own already, and is none of them.
    """
    name, special = exploration.operator.name, always(exploration)
    known = {example.spelled(name) for example in special}
    different: dict[str, Example] = {}
    for number in range(PASSES):
        if len(different) < exploration.count:
            drawn = draw_examples(exploration, seed, NIGHTLY_EXAMPLES, number)
            different |= {s: each for each in drawn if (s := each.spelled(name)) not in known}
    given = frozenset[str]().union(*(sides(each, name, seed) for each in special))
    pool = list(different.values())
    taken = [sides(each, name, seed) for each in pool]
    places = cover(taken, [*map(size, pool)], exploration.count, given)
    return [pool[place] for place in places]


def always(exploration: Exploration) -> list[Example]:
    """The examples that are compared besides those that are drawn, within the limits."""
    examples = exploration.operator.always if exploration.execution == "pynative" else ()
    return [example for example in examples if not ruled_out(exploration, example)]


def ruled_out(exploration: Exploration, example: Example) -> bool:
    """Whether a limit of the counterpart excludes the example."""
    return any(LIMITS[limit](example) for limit in exploration.counterpart.without)


@functools.cache
def backend() -> str:
    """The name of a backend of Hypothesis that draws every example by itself, from the seed alone.

    Hypothesis' own engine makes most examples out of earlier ones. It also draws numbers that stand
    in the sources of the imported modules, so that the examples of one seed would change with any
    edit, and with the order of tests in a worker.

    Hypothesis keeps private what this overrides. It is imported here, so that beside a release
    that has it elsewhere nothing fails but what draws examples.
    """
    from hypothesis.internal.conjecture import providers

    class Independent(providers.HypothesisProvider):
        def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
            return None

    providers.AVAILABLE_PROVIDERS["independent"] = Independent
    return "independent"


def run(
    compare: Callable[[Example], None],
    operator: Operator,
    without: frozenset[str],
    seed: int,
    count: int,
    phases: list[Phase],
) -> None:
    """Hand `count` examples, not all different, to `compare`; the simplest one comes first.

    without: the limits that no example is beyond.
    """

    @hypothesis.given(examples(operator, without))
    def one(example: Example) -> None:
        compare(example)

    run = settings(
        backend=backend(),
        max_examples=count,
        database=None,
        phases=phases,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )(one)
    with warnings.catch_warnings():
        # MindSpore raises the recursion limit at its first use; Hypothesis warns of that.
        warnings.filterwarnings("ignore", "The recursion limit", HypothesisWarning)
        hypothesis.seed(seed)(run)()


def seed_of_pass(operator: Operator, seed: int, number: int = 0) -> int:
    """The seed of one pass; all counterparts of an operator get the same examples."""
    return seed_of(seed, operator.name, number)


def draw_examples(
    exploration: Exploration, seed: int, count: int, number: int = 0
) -> list[Example]:
    """The different examples among `count` drawn ones. number: of the pass that draws them."""
    return [*_drawn(exploration.operator, exploration.without, seed, count, number)]


@functools.lru_cache(maxsize=32)
def _drawn(
    operator: Operator, without: frozenset[str], seed: int, count: int, number: int
) -> tuple[Example, ...]:
    """Kept, since most counterparts of an operator have the same limits."""
    different: dict[str, Example] = {}

    def keep(example: Example) -> None:
        different.setdefault(example.spelled(operator.name), example)

    run(keep, operator, without, seed_of_pass(operator, seed, number), count, [Phase.generate])
    return tuple(different.values())


def draw_largest(exploration: Exploration, seed: int) -> list[Example]:
    """The few examples with the most elements among many drawn ones."""
    many = draw_examples(exploration, seed, NIGHTLY_EXAMPLES)
    return sorted(many, key=_elements, reverse=True)[:GATE_EXAMPLES]


def in_double(exploration: Exploration, seed: int) -> list[Example]:
    """The largest drawn example in float64, at the nightly level and within the limits.

    Empty where no input has a gradient, and for accelerators, most of which have no float64.
    """
    if exploration.count != NIGHTLY_EXAMPLES or exploration.device != "cpu":
        return []
    double = _doubled(draw_examples(exploration, seed, NIGHTLY_EXAMPLES))
    largest = sorted(double, key=_elements)[-1:]
    return [example for example in largest if not ruled_out(exploration, example)]


def _doubled(examples: list[Example]) -> list[Example]:
    """The examples of float32 in float64, if an input has a gradient and none is of float16."""
    return [
        replace(example, dtype="float64")
        for example in examples
        if example.dtype == "float32"
        and any(draw.differentiable for draw in example.inputs)
        and not any(draw.narrow for draw in example.inputs)
    ]


def _elements(example: Example) -> int:
    return sum(math.prod(map(int, array.shape)) for array in example.inputs)


def beyond_limit(exploration: Exploration, limit: str, seed: int) -> list[Example]:
    """Examples that only this limit of the counterpart excludes."""
    without = dict(exploration.counterpart.without)
    del without[limit]
    freed = replace(exploration, counterpart=replace(exploration.counterpart, without=without))
    examples = [*always(freed), *draw_examples(freed, seed, 10 * NIGHTLY_EXAMPLES)]
    examples += _doubled(examples) if limit == "float64" else []
    return [example for example in examples if LIMITS[limit](example)]


def pairs_without(
    exploration: Exploration, argument: str, seed: int
) -> list[tuple[Example, Example]]:
    """Pairs of examples: one that gives an argument, and the same one without it."""
    pairs = []
    for example in draw_examples(exploration, seed, NIGHTLY_EXAMPLES):
        others = {key: value for key, value in example.arguments.items() if key != argument}
        pairs.append((example, replace(example, arguments=others)))
    return pairs
