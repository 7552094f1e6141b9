"""What the gate compares, read off its test modules."""

from collections.abc import Iterator

from tests import test_distributed, test_initial, test_pipelines, test_recipes, test_twins


def cases(device: str) -> Iterator[str]:
    """The name of every case of the gate on a device; operators are not among them."""
    declared = (
        test_twins.CASES,
        test_pipelines.CASES,
        test_initial.CASES,
        test_recipes.STAGES,
        test_distributed.CASES,
    )
    for parameters in declared:
        for each in parameters:
            (case,) = each.values
            if case.device == device and any(mark.name == "gate" for mark in each.marks):
                yield case.name
