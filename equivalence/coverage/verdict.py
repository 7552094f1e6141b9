"""What is known of a call: whether it was verified, what differs, and what to write."""

import ast
import functools
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from equivalence.coverage.compared import ComparedArguments, beyond, bindings, by_inputs, signatures
from equivalence.coverage.defaults import REQUIRED
from equivalence.coverage.known import DeclaredAPIs, VerifiedAPI
from equivalence.coverage.reader import CallSite, ToldArgument, literal
from equivalence.coverage.torch_names import is_class
from equivalence.declare.difference import Raised
from equivalence.declare.operator import LIMITS, Counterpart, Operator
from equivalence.declare.twin import Twin
from equivalence.findings.scripts import Finding
from equivalence.report import accepted


class Danger(IntEnum):
    """What a call does in MindSpore, the most dangerous first."""

    SILENT = 0
    SOMETIMES = 1
    CRASHES = 2
    RAISES = 3
    UNKNOWN = 4
    PRIVATE = 5
    VERIFIED = 6


TITLES = {
    Danger.SILENT: "differs silently",
    Danger.SOMETIMES: "differs silently for some values",
    Danger.CRASHES: "ends the process",
    Danger.RAISES: "raises",
    Danger.UNKNOWN: "unknown: not compared",
    Danger.PRIVATE: "private names: not compared",
    Danger.VERIFIED: "verified",
}

OF_SEVERITY = {
    "silent": Danger.SILENT,
    "crashes": Danger.CRASHES,
    "raises": Danger.RAISES,
    "default": Danger.VERIFIED,
    "inaccurate": Danger.VERIFIED,
}

SCOPE = ("empty", "vanishing", "graph", "nothing_left", "scalar", "vector")
"""Limits of shapes and modes, which the author of a network knows beforehand."""
DTYPES = ("float16", "float32", "float64", "half")
"""Words in the names of limits of a dtype."""
NARROWS = ("float16", "float64", "integers", "empty", "graph", "refused by PyTorch")
"""What findings may need that narrows where a call is verified, and is no danger within that."""
REFUSALS = ("refused", "crash", "kernel", "has no default", "takes one", "wants", "is given when")
"""Words in the consequence of a limit that tell of an error."""


@dataclass
class CallVerdict:
    """What is known of a call.

    danger: what it does.
    reasons: why, in words.
    findings: the names of the scripts that show it.
    apis: the MindSpore calls that are right; the first is the one to write.
    worst: the largest error of the first, in roundings; None: not measured.
    remarks: what else to know: what differs in other dtypes, modes or calls.
    counterpart: that of the first.
    named: the arguments that are compared by name, not as inputs.
    floats: those of them that are compared as floats alone.
    built: the function, "module:attribute", that builds the layer that was compared.
    left: the settings that a call leaves to PyTorch's defaults, and the comparison does not.
    """

    danger: Danger
    reasons: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    apis: list[str] = field(default_factory=list)
    worst: float | None = None
    remarks: list[str] = field(default_factory=list)
    counterpart: Counterpart | None = None
    named: frozenset[str] = frozenset()
    floats: frozenset[str] = frozenset()
    built: str = ""
    left: dict[str, Any] = field(default_factory=dict)


INPLACE = "MindSpore leaves the input as it is: wrong where that is used again"
"""What differs where `inplace=True`."""

ONE_DTYPE = "tensors of several dtypes in one list are not compared"
"""What is known of a call that takes a list of tensors."""

STOOD_IN = (
    "on this CPU only within equivalence.on_cpu(): its stand-in was compared, not the kernel of "
    "an Ascend"
)
"""What is known of a function of MindSpore that has no kernel on a CPU."""


class Judge:
    """Judges calls by what is declared.

    known: the declarations and findings.
    compared: an operator -> what is compared of it.
    """

    def __init__(self, known: DeclaredAPIs):
        self.known = known
        self.compared = functools.cache(ComparedArguments)
        self._verdicts: dict[tuple, CallVerdict] = {}

    def judge(self, call: CallSite) -> CallVerdict:
        """The verdict of a call."""
        key = (call.api, repr(call.given))
        if key not in self._verdicts:
            self._verdicts[key] = self._judge(call)
        return self._verdicts[key]

    def _judge(self, call: CallSite) -> CallVerdict:
        found = [
            (each, certain) for each in self.known.findings for certain in self._about(each, call)
        ]
        operators = self.known.operators(call.api)
        strange: list[str] = []
        options: dict[str, CallVerdict] = {}
        fitting = [each for each in operators if self._of_operator(call, each, options, strange)]
        for api, option in options.items():
            _demand_all(option, api, fitting)
        for layer in self.known.layers(call.api):
            self._of_layer(call, layer, options, strange)
        for api, option in options.items():
            for finding, certain in found:
                if self.known.shows(api, finding):
                    _add_finding(option, finding, certain)
        if _changes_its_input(call):
            for option in options.values():
                _worsen(option, Danger.SOMETIMES, INPLACE)
        named: dict[str, set[str]] = {}
        for operator in fitting:
            for name, values in self.compared(operator).named(call).items():
                named.setdefault(name, set()).update(values)
        strange += [f"{name}=... but {', '.join(map(repr, sorted(named[name])))}" for name in named]
        if options and not named:
            of_class = is_class(call.api)
            for api in self.known.stood_in & options.keys():
                _note(options[api].remarks, STOOD_IN)
            ranked = sorted(
                options.values(),
                key=lambda each: (
                    -each.danger,
                    STOOD_IN in each.remarks,
                    each.apis[0].startswith("nn.") != of_class,
                ),
            )
            best = ranked[0]
            if call.given is None:
                _note(best.remarks, "called elsewhere, with arguments that are not seen here")
            best.apis = [each.apis[0] for each in ranked if each.danger == best.danger]
            return best
        return self._without(call, found, operators, strange)

    def _without(
        self, call: CallSite, found: list[tuple[Finding, bool]], operators: list, strange: list[str]
    ) -> CallVerdict:
        """The verdict where nothing that is compared is such a call."""
        verdict = CallVerdict(Danger.PRIVATE if call.private else Danger.UNKNOWN)
        why = "nothing that is compared is such a call"
        if operators or self.known.layers(call.api):
            why = ", ".join(dict.fromkeys(strange)) or "these arguments together"
            why = f"no comparison has {why}"
        verdict.reasons.append(why)
        dangers = []
        for finding, certain in found:
            of_mint = finding.api.startswith("mindspore.mint.") and finding.severity == "raises"
            danger = OF_SEVERITY[finding.severity]
            conditions = any(_pattern(text)[1] for text in finding.torch)
            if danger is Danger.SILENT and (finding.when or (conditions and not certain)):
                danger = Danger.SOMETIMES
            rarely = danger is Danger.RAISES and (finding.when or (conditions and not certain))
            if of_mint or rarely or danger is Danger.VERIFIED or finding.when in NARROWS:
                verdict.remarks.append(_told(finding))
                continue
            dangers.append((danger, finding))
        if dangers:
            kinds = {danger for danger, _ in dangers}
            # What raises whatever the values are, differs for none of them.
            verdict.danger = min(kinds - {Danger.SOMETIMES} if Danger.RAISES in kinds else kinds)
            verdict.reasons = [_told(each) for _, each in sorted(dangers, key=lambda one: one[0])]
            verdict.remarks += [why] if operators else []
            verdict.findings = [each.name for _, each in dangers]
        return verdict

    def _about(self, finding: Finding, call: CallSite) -> Iterable[bool]:
        """Whether a finding is about a call: nothing, or one bool: its arguments tell so."""
        for text in finding.torch:
            api, conditions = _pattern(text)
            if not self.known.same(call.api, api):
                continue
            matched = [_meets(bound, signature, conditions) for bound, signature in bindings(call)]
            if not conditions:
                yield False
                return
            if call.given is None or None in matched:
                yield False
                return
            if True in matched:
                yield True
                return

    def _of_operator(
        self,
        call: CallSite,
        operator: Operator,
        options: dict[str, CallVerdict],
        strange: list[str],
    ) -> bool:
        """Add what an operator says of a call; False where it has no example of its arguments."""
        compared = self.compared(operator)
        fitting = compared.fitting(call)
        if not fitting:
            strange += compared.strange(call) if not strange else []
            return False
        for counterpart in operator.counterparts:
            option = options.setdefault(counterpart.api, _fresh(counterpart))
            option.named |= {name for example in fitting for name in example.arguments}
            option.floats |= compared.floats
            figures = self.known.figures["operators"].get(operator.torch, {})
            worst = figures.get(counterpart.api, {}).get("worst")
            option.worst = max((w for w in (option.worst, worst) if w is not None), default=None)
            _add_limits(option, counterpart, compared, fitting)
            for example, difference in counterpart.differs.items():
                dtype = operator.example(example).dtype
                if isinstance(difference.tensors, Raised) or dtype != "float32":
                    _note(option.remarks, f"{dtype}: {difference.cause}")
                elif not (set(counterpart.defaults) and "unless told" in difference.cause):
                    _worsen(option, Danger.SOMETIMES, difference.cause)
            if operator.packed:
                _note(option.remarks, ONE_DTYPE)
            if counterpart.integers:
                _note(option.remarks, f"integers are {counterpart.integers}")
        return True

    def _of_layer(
        self,
        call: CallSite,
        layer: VerifiedAPI,
        options: dict[str, CallVerdict],
        strange: list[str],
    ) -> None:
        odd = self._not_configured(call, layer)
        if odd:
            strange += odd
            return
        option = options.setdefault(layer.counterpart.api, _fresh(layer.counterpart))
        differing = []
        for name in layer.verified:
            declared = self.known.declared[name]
            differing += [str(declared.differs)] if declared.differs else []
            if not declared.differs and not option.built:
                option.built = getattr(declared, "candidate", "")
                option.left = _left(call, getattr(declared, "configs", ()))
            worst = accepted.worst_of(self.known.figures, name)
            option.worst = max((w for w in (option.worst, worst) if w is not None), default=None)
        for words in differing:
            if len(differing) == len(layer.verified):
                _worsen(option, Danger.SILENT, words)
            else:
                _note(option.remarks, words)

    def _not_configured(self, call: CallSite, layer: VerifiedAPI) -> list[str]:
        """The arguments of a call that no twin of a layer is built with, spelled."""
        if call.given is None:
            return []
        configs = [
            config
            for name in layer.verified
            for config in getattr(self.known.declared[name], "configs", ())
            if isinstance(self.known.declared[name], Twin)
        ]
        least = None
        for bound, signature in bindings(call):
            odd = []
            for name, value in bound.items():
                told = isinstance(value, ToldArgument) or (
                    isinstance(value, int | float | tuple | list) and not isinstance(value, bool)
                )
                had = any(name in each and each[name] == value for each in configs)
                if not told and not had and signature.get(name, ...) != value:
                    odd.append(f"{name}={value!r}")
            if least is None or len(odd) < len(least):
                least = odd
        return least or []


def _left(call: CallSite, configs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """PyTorch's defaults of the settings of a twin that a call does not tell."""
    told = {name for config in configs for name in config}
    for bound, signature in bindings(call) if call.given is not None else ():
        missing = {
            name: signature[name] for name in signature if name in told and name not in bound
        }
        return {name: each for name, each in missing.items() if each is not REQUIRED}
    return {}


def _demand_all(option: CallVerdict, api: str, fitting: list[Operator]) -> None:
    """A MindSpore call must be compared in all the ways that a call may be meant."""
    compared = [each.name for each in fitting if api in [c.api for c in each.counterparts]]
    if compared and len(compared) < len(fitting):
        _worsen(option, Danger.UNKNOWN, f"{api} is compared as {', '.join(compared)} alone")


def _changes_its_input(call: CallSite) -> bool:
    """Whether a call is told to write its result where its input was."""
    given = call.given or {}
    places = [list(each).index("inplace") for each in signatures(call.api) if "inplace" in each]
    keys: list[int | str] = ["inplace", *places]
    return any(given.get(key, False) is not False for key in keys)


def _fresh(counterpart: Counterpart) -> CallVerdict:
    return CallVerdict(Danger.VERIFIED, apis=[counterpart.api], counterpart=counterpart)


def _add_limits(
    option: CallVerdict, counterpart: Counterpart, compared: ComparedArguments, fitting: list
) -> None:
    """What the limits of a counterpart say of a call with such examples."""
    beyond_fitting = [beyond(each, counterpart, LIMITS) for each in fitting]
    always = all(beyond_fitting)
    for limit, effect in counterpart.without.items():
        outside = [each for each in compared.examples if LIMITS[limit](each)]
        meets = [limit in each for each in beyond_fitting]
        if outside and not any(meets) and not by_inputs(LIMITS[limit], outside, fitting):
            continue  # only other arguments lie beyond it
        words = f"{limit.replace('_', ' ')}: {effect}"
        refused = any(word in str(effect) for word in REFUSALS)
        if all(meets) and outside:
            _worsen(option, Danger.RAISES if refused else Danger.SILENT, words)
        elif refused or limit in SCOPE or any(word in limit for word in DTYPES):
            _note(option.remarks, words)
        else:
            _worsen(option, Danger.SOMETIMES, words)
    if always and option.danger is Danger.VERIFIED:
        _worsen(option, Danger.UNKNOWN, "no example lies within all limits")


def _add_finding(option: CallVerdict, finding: Finding, certain: bool) -> None:
    """What a finding says of a MindSpore call that was compared."""
    danger = OF_SEVERITY[finding.severity]
    _note(option.findings, finding.name)
    narrow = finding.when in NARROWS or danger is Danger.VERIFIED
    if narrow or (danger is not Danger.SILENT and not (certain and not finding.when)):
        _note(option.remarks, _told(finding))
    else:
        _worsen(option, Danger.SOMETIMES if finding.when else danger, _told(finding))


def _worsen(option: CallVerdict, danger: Danger, words: str) -> None:
    option.danger = min(option.danger, danger)
    _note(option.reasons, words)


def _note(to: list[str], words: str) -> None:
    if words not in to:
        to.append(words)


def _told(finding: Finding) -> str:
    """A finding on one line."""
    when = f" ({finding.when})" if finding.when else ""
    return f"{finding.title.rstrip('.')}{when} [{finding.name}]"


@functools.cache
def _pattern(text: str) -> tuple[str, Mapping[str, Any]]:
    """(API, argument -> values that are meant) of "torch.topk(k=0)"."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call):
        return text, {}
    return ast.unparse(node.func), {str(each.arg): literal(each.value) for each in node.keywords}


def _meets(
    bound: Mapping[str, Any], signature: Mapping[str, Any], conditions: Mapping
) -> bool | None:
    """Whether arguments meet conditions; None where they may."""
    unclear = False
    for name, meant in conditions.items():
        default = signature.get(name, inspect.Parameter.empty)
        value = bound.get(name, default)
        if isinstance(value, ToldArgument) or (name not in bound and {"*", "**"} & set(bound)):
            unclear = unclear or not (meant is ... and isinstance(value, ToldArgument))
        elif meant is ...:
            if value == default:
                return False
        elif value not in (meant if isinstance(meant, tuple) else (meant,)):
            return False
    return None if unclear else True
