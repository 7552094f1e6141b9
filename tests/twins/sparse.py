"""Sparse matrices against PyTorch's: the values have gradients, the patterns are given."""

from equivalence.declare.draws import given, normal, ties
from equivalence.declare.twin import Twin

# A row without elements, and rows of one, two and three.
ENDS, COLUMNS = (0, 2, 2, 5, 6), (0, 4, 1, 2, 4, 3)
PATTERN = ((0, 0), (0, 4), (2, 1), (2, 2), (2, 4), (3, 3))
OVERLAPPING = ((0, 4), (1, 0), (2, 1), (3, 3), (3, 4))
REPEATING = ((0, 0), (0, 4), (0, 4), (2, 1), (3, 3), (0, 4))
UNSORTED = ((3, 3), (0, 4), (2, 4), (0, 0), (2, 1), (2, 2))


def twin(name, candidate, *inputs, **options) -> Twin:
    """One whose two sides are in the modules for sparse matrices."""
    return Twin(
        name,
        reference=f"pt_reference.sparse:{name}",
        candidate=f"ms_models.sparse:{candidate}",
        inputs=inputs,
        phases=("train",),
        **options,
    )


TWINS = (
    twin(
        "coo_operators",
        "CooOperators",
        given(6, 2, values="PATTERN"),
        normal(6),
        normal(4, 5),
        normal(5, 3),
        normal(4, 3),
        configs=({"PATTERN": UNSORTED},),
    ),
    twin(
        "coo_sum",
        "CooSum",
        given(6, 2, values=PATTERN),
        normal(6),
        given(5, 2, values=OVERLAPPING),
        normal(5),
    ),
    twin("summed_duplicates", "SummedDuplicates", given(6, 2, values=REPEATING), normal(6)),
    twin(
        "csr_operators",
        "CsrOperators",
        given(5, values=ENDS),
        given(6, values=COLUMNS),
        normal(6),
        normal(5, 3),
    ),
    twin("to_sparse", "ToSparse", ties(4, 5)),  # zeros among them
)
