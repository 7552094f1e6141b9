"""The line of results of a failed test: its text, and what a diagnosis found, as data.

A case that could not be compared has no other line. The lines of the tensors of a failed case have
its figures; this one has the rest, once.
"""

import json
from collections.abc import Mapping
from typing import Any

from equivalence.kinds import Case


def line(
    case: Case | None,
    seed: int,
    text: str,
    test: str = "",
    diagnosis: Mapping[str, Any] | None = None,
) -> str:
    """One JSON object for a failed test.

    case: its case; None where the test died before it had one.
    text: the text of the failure.
    test: the node id of the test; "" where no test ran.
    diagnosis: the layers of both sides with their errors, and the culprits.

    >>> line(None, 0, "the worker crashed", "test_twins.py::test_twin[relu-cpu]")[:60]
    '{"case": "relu-cpu", "seed": 0, "failure": "the worker crash'
    """
    fields: dict[str, Any] = {"case": case.name if case else name_in(test)}
    if case is not None:
        fields |= {"twin": case.twin.name, "device": case.device, **case.labels}
    fields |= {"seed": seed, "failure": text}
    fields |= {"test": test} if test else {}
    return json.dumps(fields | ({"diagnosis": dict(diagnosis)} if diagnosis else {}))


def name_in(test: str) -> str:
    """The name of the case in a node id; the node id itself where it has none.

    >>> name_in("tests/test_twins.py::test_twin[relu-cpu]")
    'relu-cpu'
    """
    _, bracket, name = test.partition("[")
    return name.removesuffix("]") if bracket else test


def is_red(result: Mapping[str, Any]) -> bool:
    """Whether a line of results is of a failed test, or of a tensor for which a case fails."""
    if "failure" in result or result.get("ill_posed"):
        return True
    return not result.get("equal", True) and (
        bool(result.get("unexpected")) or "declared" not in result
    )
