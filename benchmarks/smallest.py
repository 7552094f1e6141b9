"""The smallest mistake that each rule sees: one weight of a right port is scaled, less and less.

In ten networks, of the first, a middle and the last parameter: the candidate's is multiplied by
1 + e, for e from 1e-2 down to 1e-6, and 0. A row of the table has, for each rule, the smallest e
that it refuses; "right" where it refuses the right port, too. Every rule is given the same outputs,
gradients and buffers, and the reference's own run. Writes `reports/smallest.md`. Exits with 1 where
this suite refuses the right port.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from equivalence.host import environment
from equivalence.sides.feed import Feed

environment.prepare()

import numpy as np  # noqa: E402

from equivalence import files  # noqa: E402
from equivalence.comparison import kept  # noqa: E402
from equivalence.comparison.comparison import CaseAtSeed  # noqa: E402
from equivalence.declare.twin import TwinCase, cases  # noqa: E402
from equivalence.sample import Sample  # noqa: E402
from equivalence.structure import pairing  # noqa: E402
from tests.defects import rivals  # noqa: E402
from tests.twins import declared  # noqa: E402

REPORT = Path(__file__).parents[1] / "reports" / "smallest.md"

NETWORKS = (
    *("bottleneck", "mobilenetv3", "unet", "convnext", "transformer_encoder"),
    *("dit", "vit", "swin", "autoencoder_kl", "lstm"),
)

SIZES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 0.0)
"""By how much a weight is scaled, relative to itself."""

UNSEEN, RIGHT = math.inf, 0.0


class Scaled:
    """A sample of which the candidate gets one weight times 1 + `by`."""

    def __init__(self, sample: Sample, name: str, by: float):
        self._sample, self._name, self._by = sample, name, by

    def __getattr__(self, name: str) -> object:
        return getattr(self._sample, name)

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The weight, which is another one where it is the scaled one."""
        values = self._sample.weight(name, shape)
        if name != self._name:
            return values
        return (values * (1.0 + self._by)).astype(values.dtype)


def first_case(name: str) -> TwinCase:
    """The first case of a twin in PyNative mode, in training where it has that."""
    (twin,) = (each for each in declared() if each.name == name)
    found = [each for each in cases(twin, "cpu") if each.execution == "pynative"]
    return min(found, key=lambda each: each.phase != "train").sizes[0]


def smallest(case: TwinCase) -> Iterator[tuple[str, dict[str, float]]]:
    """For some weights of a network: rule -> the smallest change that it refuses, or infinity."""
    drawn, reference = CaseAtSeed(case, 0), kept.reference(case, 0)
    own = drawn.measurement(reference.sample).run_own()
    network = kept.candidate(case, 0)
    partners = pairing.partners(case, reference.slots, network.slots(), network.unheld)
    weights = [name for name, slot in reference.slots.items() if slot.kind == "parameter"]
    truth = {name: each.truth for name, each in reference.expected.items()}
    for weight in dict.fromkeys((weights[0], weights[len(weights) // 2], weights[-1])):
        found = dict.fromkeys((rivals.OURS, *rivals.RULES), UNSEEN)
        for by in SIZES:
            scaled = Scaled(reference.sample, weight, by)
            trace = network.run(Feed(scaled, partners, case.phase, reference.expected.pulled_back))
            judgement = drawn.judge(reference.expected, trace)
            found |= {
                rule: by
                for rule, refuses in rivals.refused(judgement, trace, own, truth).items()
                if refuses
            }
        yield weight, found


def main() -> int:
    """Measure, print and write the table; the process's exit code."""
    rules = [rivals.OURS, *rivals.RULES]
    lines = [f"| network | weight | {' | '.join(rules)} |", f"|---|---{'|---' * len(rules)}|"]
    seen: dict[str, list[float]] = {rule: [] for rule in rules}
    for name in NETWORKS:
        for weight, found in smallest(first_case(name)):
            for rule in rules:
                seen[rule].append(found[rule])
            lines.append(f"| {name} | `{weight}` | {' | '.join(map(told, found.values()))} |")
            print(lines[-1], flush=True)
    middles = (sorted(each)[len(each) // 2] for each in seen.values())
    lines.append(f"| the median of {len(seen[rivals.OURS])} | | {' | '.join(map(told, middles))} |")
    print(lines[-1])
    files.write(REPORT, "\n".join(lines) + "\n")
    return int(RIGHT in seen[rivals.OURS])


def told(by: float) -> str:
    """A smallest change as a cell of the table."""
    return {UNSEEN: "none", RIGHT: "right"}.get(by, f"{by:g}")


if __name__ == "__main__":
    sys.exit(main())
