"""Which size of a case goes wrong, and which layers do so at that size."""

from equivalence.declare.twin import TwinCase
from equivalence.diagnosis import network
from equivalence.diagnosis.found import Diagnosis
from equivalence.diagnosis.search import Search
from equivalence.twins.compare import compare_size


def diagnose(case: TwinCase, seed: int, every: bool) -> Diagnosis:
    """Diagnose the first size that differs; the last size, where none does.

    The candidate runs the earlier sizes first, as in the comparison.
    """
    candidate = None
    for sized_case in case.sizes:
        comparison = compare_size(sized_case, seed, candidate, flips=False)
        if not comparison.judgement.equal:
            break
        candidate = comparison.candidate
    diagnosis = network.diagnose(Search(sized_case, seed, candidate), every)
    if candidate is not None and diagnosis.culprits:
        fresh = compare_size(sized_case, seed, flips=False)
        if fresh.judgement.equal:
            for layer in diagnosis.culprits:
                cause = "right when it is built anew; it keeps another size"
                layer.causes.append(sized_case.at_size(cause))
    return diagnosis
