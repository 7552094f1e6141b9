"""The table of calls as text, JSON and a page, most dangerous first; and what to write instead."""

import ast
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from equivalence.coverage.compared import PLACES, bindings, gathered, signatures
from equivalence.coverage.defaults import REQUIRED
from equivalence.coverage.reader import INDEX, CallSite, ToldArgument, literal
from equivalence.coverage.torch_names import TENSOR, is_class, look_up
from equivalence.coverage.usage import Usage, list_uses, natural_key
from equivalence.coverage.verdict import STOOD_IN, TITLES, CallVerdict, Danger, Judge
from equivalence.judge.precision import BUDGET
from equivalence.targets import resolve

WIDTH = 120
"""Columns of the table; longer text is wrapped."""

TEMPLATE = Path(__file__).with_name("page.html.j2")
"""The page of the table."""

SHORT = {
    Danger.SILENT: "differ silently",
    Danger.SOMETIMES: "differ silently for some values",
    Danger.CRASHES: "end the process",
    Danger.RAISES: "raise",
    Danger.UNKNOWN: "unknown",
    Danger.PRIVATE: "private",
    Danger.VERIFIED: "verified",
}
INDEXED = {
    ("__getitem__", "places"): "x[1, 2:]",
    ("__getitem__", "steps"): "x[::2]",
    ("__getitem__", "elements"): "x[tensor or list]",
    ("__setitem__", "places"): "x[1, 2:] = ...",
    ("__setitem__", "steps"): "x[::2] = ...",
    ("__setitem__", "elements"): "x[mask, list or ...] = ...",
}
"""(method, what the index has) -> how it is told."""


FILLED = {"zero_": "ms.ops.zeros_like({0})", "fill_": "ms.ops.full_like({0}, {1})"}
"""In-place methods that no function is named after -> what makes the new tensor."""


class JudgedCall(NamedTuple):
    """A call, what is known of it, and what to write instead."""

    call: CallSite
    verdict: CallVerdict
    hint: str


def table(
    target: str, used: Usage, calls: Sequence[JudgedCall], versions: Mapping[str, str]
) -> list[str]:
    """The lines of the table.

    versions: package -> version with which the errors were measured.
    """
    counts = {danger: sum(each.verdict.danger is danger for each in calls) for danger in Danger}
    told = [f"{count} {SHORT[danger]}" for danger, count in counts.items() if count]
    more = f" ({len(used.files)} files)" if len(used.files) > 1 else ""
    counted = f"{len(calls)} calls of PyTorch: {', '.join(told) or 'none'}"
    lines = textwrap.wrap(f"{target}{more}: {counted}", WIDTH, break_long_words=False)
    for danger in Danger:
        rows = _rows([each for each in calls if each.verdict.danger is danger])
        if rows:
            lines += ["", TITLES[danger], *rows]
    return [*lines, "", *_notes(used, counts, versions)]


def _rows(calls: Sequence[JudgedCall]) -> list[str]:
    """The lines of the calls of one danger; calls with the same arguments are one row."""
    groups: dict[str, list[JudgedCall]] = {}
    for each in calls:
        groups.setdefault(_spelled(each.call), []).append(each)
    return [line for spelled, group in groups.items() for line in _row(spelled, group)]


def _spelled(call: CallSite) -> str:
    if call.given and INDEX in call.given:
        return INDEXED[call.api.rpartition(".")[2], call.given[INDEX]]
    return call.spelled()


def _row(spelled: str, group: list[JudgedCall]) -> Iterator[str]:
    verdict = group[0].verdict
    places = [each.call.place for each in group]
    word = "line " if len(set(places)) == 1 else "lines "
    where = (word if all(place.isdigit() for place in places) else "") + list_uses(places)
    if not all(each.call.sure for each in group):
        where += ", if of tensors"
    if look_up(group[0].call.api) is None:
        where += "; no such name is known"
    if verdict.danger is Danger.VERIFIED:
        worst = "-" if verdict.worst is None else f"{verdict.worst:.2f}"
        yield from _wrapped(f"  {spelled:58} {worst:>6}  ", f"{where}: {', '.join(verdict.apis)}")
    else:
        yield from _wrapped(f"  {spelled}  ", where)
        yield from (line for words in verdict.reasons for line in _wrapped("      ", words))
        told = (each.hint for each in group if each.hint and each.hint != each.call.text)
        hints = list(dict.fromkeys(told))
        yield from (line for words in hints[:1] for line in _wrapped("      write ", words))
    few = verdict.danger is not Danger.VERIFIED or len(verdict.remarks) <= 2
    for words in verdict.remarks:
        if few or words == STOOD_IN:
            yield from _wrapped("      also ", words)


def _wrapped(head: str, words: str) -> Iterator[str]:
    indent = " " * min(len(head), 69)
    yield from textwrap.wrap(
        head + words, WIDTH, subsequent_indent=indent, drop_whitespace=True
    ) or [head]


def hints(calls: Sequence[JudgedCall]) -> list[str]:
    """A line for each place: the code, and what to write."""
    lines = []
    for each in sorted(calls, key=lambda each: natural_key(each.call.place)):
        if each.call.node is None or each.hint == each.call.text:
            continue
        told = each.hint or "?"
        if each.verdict.danger is not Danger.VERIFIED:
            told += f"    # {TITLES[each.verdict.danger]}"
        elif STOOD_IN in each.verdict.remarks:
            told += f"    # {STOOD_IN}"
        lines.append(f"{each.call.place}: {each.call.text}\n    {told}")
    return list(dict.fromkeys(lines))


def data(
    target: str, used: Usage, calls: Sequence[JudgedCall], versions: Mapping[str, str]
) -> dict[str, Any]:
    """The table as JSON has it."""
    return {
        "target": target,
        "versions": dict(versions),
        "device": "cpu",
        "dtypes": ["float32", "float16"],
        "not_looked_into": sorted(used.others),
        "files": sorted(map(str, used.files)),
        "calls": [
            {
                "place": each.call.place,
                "call": _spelled(each.call),
                "code": each.call.text,
                "surely_of_a_tensor": each.call.sure,
                "verdict": SHORT[each.verdict.danger],
                "reasons": each.verdict.reasons,
                "findings": each.verdict.findings,
                "mindspore": each.verdict.apis,
                "worst": each.verdict.worst,
                "remarks": each.verdict.remarks,
                "write": each.hint,
            }
            for each in calls
        ],
    }


def page(told: Mapping[str, Any]) -> str:
    """What `data` returns as one file of HTML, which needs no network."""
    # The calls come with the most dangerous first: so do the tables.
    order = list(dict.fromkeys(call["verdict"] for call in told["calls"]))
    calls = [{**call, "rank": order.index(call["verdict"])} for call in told["calls"]]
    template = jinja2.Template(
        TEMPLATE.read_text(encoding="utf-8"),
        autoescape=True,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return template.render({**told, "calls": calls})


def _notes(used: Usage, counts: Mapping[Danger, int], versions: Mapping[str, str]) -> Iterator[str]:
    if used.others:
        words = f"not looked into: {', '.join(sorted(used.others))}"
        yield from textwrap.wrap(words, WIDTH, subsequent_indent="  ")
    if counts[Danger.VERIFIED]:
        words = (
            "verified: equal for random examples with such arguments, in float32 and float16, "
            "forward and backward; the number is the largest error measured, in roundings, of "
            f"which {BUDGET:g} are allowed (MindSpore {versions['mindspore']}, PyTorch "
            f"{versions['torch']}, CPU)"
        )
        yield from textwrap.wrap(words, WIDTH, subsequent_indent="  ")


def hint(call: CallSite, verdict: CallVerdict, judge: Judge) -> str:
    """What to write instead of a call; empty where nothing is known that is right."""
    node = call.node
    if call.api == f"{TENSOR}.__setitem__":
        masked = (call.given or {}).get(INDEX) == "elements"
        silent = masked and verdict.danger in (Danger.SILENT, Danger.SOMETIMES)
        if silent and isinstance(node, ast.Subscript):
            tensor, index = ast.unparse(node.value), ast.unparse(node.slice)
            return f"{tensor} = ms.ops.where({index}, value, {tensor}), where {index} is a mask"
        return ""
    if isinstance(node, ast.AugAssign):
        result = ast.unparse(ast.BinOp(_loaded(node.target), node.op, node.value))
        return f"{ast.unparse(node.target)} = {result}"
    if call.in_place and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _new_tensor(call, node, node.func.value, judge)
    if verdict.counterpart is None or verdict.danger not in (Danger.VERIFIED, Danger.SOMETIMES):
        return ""
    if isinstance(node, ast.Call):
        return _renamed(call, node, verdict)
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript):
        return call.text
    return f"ms.{verdict.apis[0]}" if node is not None else ""


def _loaded(target: ast.expr) -> ast.expr:
    """The value of what an assignment sets."""
    return ast.parse(ast.unparse(target), mode="eval").body


def _new_tensor(call: CallSite, node: ast.Call, receiver: ast.expr, judge: Judge) -> str:
    """An assignment of the new tensor in place of a method that changes the old one."""
    name, text = call.api.rpartition(".")[2], ast.unparse(receiver)
    arguments = [ast.unparse(each) for each in node.args]
    if name in FILLED:
        made = FILLED[name].format(text, *arguments)
    else:
        given = dict(call.given or {})
        twin = CallSite(f"{TENSOR}.{name[:-1]}", call.place, given, node=node)
        verdict = judge.judge(twin)
        if verdict.counterpart is None:
            return ""
        made = _renamed(twin, node, verdict)
    kept = isinstance(receiver, ast.Name | ast.Attribute | ast.Subscript)
    return f"{text} = {made}" if kept else made


def _renamed(call: CallSite, node: ast.Call, verdict: CallVerdict) -> str:
    """A call under MindSpore's names, with its arguments as they are compared: by name."""
    counterpart = verdict.counterpart
    if counterpart is None:
        return ""
    if counterpart.through:
        told = [
            f"{name}={each!r}" for name, each in left(call, verdict).items() if each is not None
        ]
        more = f" with {', '.join(told)}" if told else ""
        return f"ms.{counterpart.api}, as {counterpart.through} calls it{more}"
    if verdict.built and not verdict.built.startswith("mindspore."):
        told = [f"{name}={value!r}" for name, value in verdict.left.items()]
        more = f" with {', '.join(told)}" if told else ""
        return f"ms.{counterpart.api}, as {verdict.built} builds it{more}"
    arguments = list(map(ast.unparse, node.args))
    receivers = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    method = call.api.startswith(f"{TENSOR}.") and bool(receivers)
    if method:
        arguments[:0] = map(ast.unparse, receivers)
    if (first := gathered(call)) is not None and first < len(arguments):
        arguments[first:] = [_tuple(arguments[first:])]
    if method and counterpart.api.startswith("Tensor."):
        receiver, *plain = [*arguments, *(ast.unparse(each) for each in node.keywords)]
        return f"{receiver}.{counterpart.api.partition('.')[2]}({', '.join(plain)})"
    given = call.given or {}
    names = max(
        (list(signature)[: len(arguments)] for signature in signatures(call.api)),
        # What is compared by name is no tensor: one overload of repeat_interleave begins with it.
        key=lambda names: sum(
            -1 if given.get(number) is ToldArgument.TENSOR else 1
            for number, name in enumerate(names)
            if name in verdict.named
        ),
        default=[],
    )
    unpacked = next((n for n, text in enumerate(arguments) if text.startswith("*")), None)
    if unpacked is not None and verdict.named & set(names[unpacked:]):
        return ""  # nobody knows which arguments these are
    words, keywords = [], {}
    for name, text in zip_longest(names, arguments, fillvalue=""):
        if text and name not in PLACES:
            if name in verdict.named:
                keywords[counterpart.names.get(name, name)] = _as_compared(name, text, verdict)
            else:
                words.append(text)
    inputs = _inputs_by_name(call, node, verdict)
    words += inputs.values()
    for each in node.keywords:
        if each.arg not in PLACES and each.arg not in inputs:
            name, text = each.arg or "**", ast.unparse(each.value)
            keywords[counterpart.names.get(name, name)] = _as_compared(name, text, verdict)
    # What stands between the inputs: ops.gather_elements(x, 1, index).
    place, name = resolve("ms_models.operators:AMONG_INPUTS").get(counterpart.api, (0, ""))
    if name in keywords and len(words) >= place:
        words.insert(place, keywords.pop(name))
    words += [f"**{text}" if key == "**" else f"{key}={text}" for key, text in keywords.items()]
    given_names = {*names[: len(arguments)], *(each.arg for each in node.keywords)}
    for name, (ours, _) in counterpart.defaults.items():
        if name not in given_names:
            words.append(f"{counterpart.names.get(name, name)}={ours!r}")
    made = f"ms.{counterpart.api}({', '.join(words)})"
    layer = counterpart.api.startswith("nn.") and not is_class(call.api)
    if is_class(call.api) and counterpart.api.rpartition(".")[2][0].islower():
        return (
            f"lambda x: {made.replace('(', '(x, ' if words else '(x', 1)}"  # a function, no layer
        )
    return f"{made}, a layer" if layer else made


def left(call: CallSite, verdict: CallVerdict) -> dict[str, Any]:
    """PyTorch's defaults of what a call does not tell, and the comparison does."""
    for bound, signature in bindings(call) if call.given is not None else ():
        names = [name for name in signature if name in verdict.named and name not in bound]
        values = {name: signature[name] for name in names if signature[name] is not REQUIRED}
        # A schema has lists; MindSpore takes tuples.
        return {n: tuple(each) if isinstance(each, list) else each for n, each in values.items()}
    return {}


def _inputs_by_name(call: CallSite, node: ast.Call, verdict: CallVerdict) -> dict[str, str]:
    """The code of the inputs that are given by name, in order: MindSpore names them otherwise."""
    given = {each.arg: ast.unparse(each.value) for each in node.keywords}
    for signature in signatures(call.api):
        if given.keys() <= signature.keys():
            inputs = [name for name in signature if signature[name] is REQUIRED]
            return {n: given[n] for n in inputs if n in given and n not in verdict.named}
    return {}


def _tuple(items: list[str]) -> str:
    """The code of a tuple."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _as_compared(name: str, text: str, verdict: CallVerdict) -> str:
    """The code of an argument; whole numbers as floats where floats alone are compared."""
    if name not in verdict.floats:
        return text
    value = literal(ast.parse(text, mode="eval").body)
    if isinstance(value, list | tuple) and all(type(each) is int for each in value):
        return repr(type(value)(map(float, value)))
    return repr(float(value)) if type(value) is int else text
