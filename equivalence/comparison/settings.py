"""Compares the settings of both sides of a case, whether it passes or not."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from equivalence.comparison import kept, sides
from equivalence.comparison.comparison import CaseAtSeed, Comparison
from equivalence.comparison.random_layers import with_draws
from equivalence.declare.twin import TwinCase
from equivalence.errors import blaming
from equivalence.host import environment
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.judge.settings import Settings, judge_settings
from equivalence.judge.tensors import of_gradient, of_handed, of_update
from equivalence.reach.decision import Decision, Reach
from equivalence.record import truths
from equivalence.sides.protocols import CandidateSide, ReferenceSide
from equivalence.structure import tables
from equivalence.structure.layers import Layer, compare_settings
from equivalence.structure.tables import Tables, TablesCompared
from equivalence.structure.weights import Partners
from equivalence.truth.known import Reference

if TYPE_CHECKING:
    from equivalence.sides.mindspore_network import MindSporeNetwork


def compare(
    case: TwinCase,
    reference: Reference,
    candidate: CandidateSide,
    partners: Partners,
    kept_by_step: list[Layer],
) -> Settings | None:
    """The settings of both sides, compared as data; nothing is run.

    candidate: the candidate after its run, which may have told the modes of its layers.
    partners: candidate name -> reference name of every weight.
    kept_by_step: what its training step kept before it ran, see `sides.candidate_step`.

    None where one side is read from a record, which holds no settings; the reference is built again
    where torch is installed. None for a single operator, too, which has no layers. Raises
    DeclarationError where a declared setting does not differ.
    """
    if case.alone or candidate.built is None:
        return None
    theirs = _of_reference(case, reference)
    if theirs is None:
        return None
    ours = [*candidate.built.layers(partners), *kept_by_step]
    constants = _tables(reference.tables, candidate.built, theirs, ours, partners)
    return _judge(case, theirs, ours, partners, constants)


def of_networks(
    case: TwinCase,
    reference: ReferenceSide,
    candidate: "MindSporeNetwork",
    partners: Partners,
) -> Settings:
    """The settings of two networks that are built and not run, compared as `compare` does."""
    theirs = sides.reference_layers(case, reference)
    ours = [*candidate.layers(partners), *sides.candidate_step(candidate, partners)]
    known = None if case.twin.by_layer else reference.tables()
    constants = _tables(known, candidate, theirs, ours, partners)
    return _judge(case, theirs, ours, partners, constants)


def _tables(
    theirs: Tables | None,
    candidate: "MindSporeNetwork",
    layers: list[Layer],
    own: list[Layer],
    partners: Partners,
) -> TablesCompared:
    """The tables that no pair of weights compares, compared as data."""
    if theirs is None:
        return TablesCompared()
    paired = theirs.without(partners.constants - partners.alone)
    ours = candidate.tables(partners)
    layered, rounding = (layers, own), UNIT_ROUNDOFF["float32"]
    return tables.compare(paired, ours, layered, partners.rename, rounding)


def _judge(
    case: TwinCase,
    theirs: list[Layer],
    ours: list[Layer],
    partners: Partners,
    of_tables: TablesCompared,
) -> Settings:
    compared = compare_settings(theirs, ours, partners.rename)
    compared = replace(
        compared,
        compared=compared.compared + of_tables.count,
        differing=(*compared.differing, *of_tables.differing),
        alone=of_tables.alone,
    )
    return judge_settings(compared, case.twin.settings, case.name)


def _of_reference(case: TwinCase, reference: Reference) -> list[Layer] | None:
    """The layers of the reference, with its tables; None where only its record is there."""
    if reference.layers is None and environment.installed("torch") and not truths.required():
        built = sides.build_reference(case)
        reference.layers = sides.reference_layers(case, built, reference.sample)
        tables = None if case.twin.by_layer else built.tables()
        reference.tables = tables and tables.without(reference.written)
    return reference.layers


def padded_elsewhere(comparison: Comparison, at_seed: CaseAtSeed) -> Settings | None:
    """The settings of a comparison, without the paddings that the port makes in its own code.

    The tensors show where a window begins. So where all of them are right, and the gradient of a
    convolution's weight is decided, its input is padded before it. A compiled graph that differs
    is asked in PyNative mode, since its compiler may be to blame.
    """
    compared = comparison.settings
    layers = {each.layer for each in compared.differing if each.shown} if compared else set()
    if compared is None or not layers:
        return compared
    judgement = comparison.judgement
    if not judgement.equal and comparison.case.execution == "graph":
        plain = replace(comparison.case, execution="pynative")
        with blaming("candidate", comparison.case.name):
            trace = sides.build_candidate(plain).run(comparison.feed)
        judgement = comparison.rejudged(trace, at_seed).judgement
    expected = comparison.reference.expected
    decided = {
        each.name.partition(":")[2]
        for each in judgement.verdicts
        if any(kind(each.name) for kind in (of_gradient, of_handed, of_update))
        and each.name not in judgement.undecidable
        and each.name in expected
        and expected[each.name].truth.any()
    }
    right = {layer for layer in layers if (f"{layer}.weight" if layer else "weight") in decided}
    return compared.shown_right(right if judgement.equal else ())


class Hidden(NamedTuple):
    """What the samples of a case do not show.

    lines: in words, settings first, then numbers in the code.
    tried: all that were tried, as decisions.
    """

    lines: list[str]
    tried: Reach


def hidden(case: TwinCase, seed: int) -> Hidden:
    """What the samples of a case do not show of settings and of numbers in the code.

    Each is tried with another value, in a run of the reference of its own. Raises
    TorchMissingError.
    """
    from equivalence.truth import hidden as search  # torch is there

    searches = {"settings": search.settings, "numbers in the code": search.numbers}
    lines: list[str] = []
    tried: list[Decision] = []
    with truths.using(None):  # a record does not hold whole tensors
        measured = []
        for one in (with_draws(each, seed) for each in case.sizes):
            known = kept.reference(one, seed)
            measured.append((CaseAtSeed(one, seed).measurement(known.sample), known.expected))
        for what, searched in searches.items():
            found = [searched(*each) for each in measured]
            tried += [each.decision for of_size in found for each in of_size]
            hides = [{(h.path, h.value) for h in of_size if h.hidden} for of_size in found]
            at_all = set.intersection(*hides)
            shown = [str(each) for each in found[0] if (each.path, each.value) in at_all]
            if found[-1] or what == "settings":
                told = f"{what} that the sample does not show: {len(shown)} of {len(found[-1])}"
                lines += [told, *shown]
    return Hidden(lines, Reach.of(tried))
