"""Operators as samples of the study of false alarms: their nightly examples, seed by seed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Searched:
    """The operator of that name, every counterpart in PyNative mode."""

    name: str

    @property
    def sample_name(self) -> str:
        return f"operator {self.name}"

    def outcomes(
        self, seeds: Sequence[int], at: Callable[[str], object]
    ) -> Iterator[tuple[str, Any, Any]]:
        """Every example with every seed: where, the case, its Outcome or what was raised."""
        from equivalence.operators.drawing import NIGHTLY_EXAMPLES, Exploration
        from equivalence.operators.explore import explore
        from tests.twins.operators import operators

        operator = next(each for each in operators() if each.name == self.name)
        for seed in seeds:
            for counterpart in operator.counterparts:
                exploration = Exploration(
                    operator, counterpart, "pynative", "cpu", NIGHTLY_EXAMPLES
                )

                def begin(text: str, api: str = counterpart.api, seed: int = seed) -> None:
                    at(f"{text} {api} --seed {seed}")

                try:
                    found = explore(exploration, seed, Path.cwd(), begin, shrink=False)
                except Exception as error:
                    yield f"{exploration.name} --seed {seed}", None, error
                    continue
                for outcome in found.outcomes:
                    yield f"{outcome.case.name} --seed {seed}", outcome.case, outcome
                if found.failure is not None:
                    case = exploration.case(found.example)
                    yield f"{case.name} --seed {seed}", case, found.failure
