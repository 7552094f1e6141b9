"""Checks one example of an operator."""

import sys
import warnings

from equivalence.declare.operator import OperatorCase
from equivalence.judge.outcome import Outcome
from equivalence.twins import check as twins


def check(case: OperatorCase, seed: int) -> Outcome:
    """Check an example as any twin; the frameworks' warnings, mostly of odd inputs, are ignored."""
    sys.audit("equivalence.check", case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return twins.check(case, seed)
