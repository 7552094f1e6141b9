"""The lines that write an attribute wrongly, where nothing else of a network is wrong."""

import ast
import inspect
import linecache
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from equivalence.diagnosis.causes import KEPT
from equivalence.diagnosis.found import LayerError
from equivalence.diagnosis.search import Search
from equivalence.judge import tensors
from equivalence.statements.calls import Statement, framework


def explain(search: Search, inherited: Mapping[tuple[str, bool], float]) -> list[LayerError]:
    """The layers whose attributes are wrong, with the lines that write them on both sides.

    None where anything else is wrong, too: that explains them, or is to be mended first.
    """
    differing = [verdict.name for verdict in search.root.judgement.differing]
    if not all(map(tensors.of_attribute, differing)):
        return []
    theirs = dict(search.reference.module.named_modules())
    found: dict[tuple[str, str], LayerError] = {}
    for name in sorted(each.removeprefix(tensors.attribute("")) for each in differing):
        path = name.rpartition(".")[0]
        while path not in search.pairs:
            path = path.rpartition(".")[0]
        head = name.removeprefix(path).removeprefix(".").partition(".")[0].partition("[")[0]
        layer = found.setdefault((path, head), search.layer(path, inherited))
        port = _writing(search.candidate.cell_at(search.pairs[path]), head)
        layer.statement = str(port[0]) if port else ""
        layer.counterpart = str(next(iter(_writing(theirs[path], head)), ""))
        layer.words = [f"what it keeps in self.{head} is wrong; what the network returns is right"]
        more = [each.place for each in port[1:]]
        layer.causes = layer.words + [f"also written in {', '.join(more)}"] * bool(more)
        if search.keeps_state:
            layer.causes.append(KEPT)
    return list(found.values())


def _writing(layer: Any, name: str) -> list[Statement]:
    """The lines of a layer's own code, but for its constructor, that write an attribute."""
    found = []
    for cls in type(layer).__mro__:
        if framework(cls.__module__) or cls is object:
            continue
        try:
            lines, first = inspect.getsourcelines(cls)
            file = inspect.getsourcefile(cls) or ""
            (made,) = ast.parse(textwrap.dedent("".join(lines))).body
        except (OSError, TypeError, SyntaxError, ValueError):  # typed in a shell, or made by code
            continue
        for line in _written(made, name):
            number = first + line - 1
            found.append(Statement(file, number, linecache.getline(file, number).strip(), ""))
    return found


def _written(made: ast.AST, name: str) -> Iterator[int]:
    """The lines of a class in which `self.name`, or something in it, gets a value."""
    for function in ast.walk(made):
        if not isinstance(function, ast.FunctionDef) or function.name == "__init__":
            continue
        for node in ast.walk(function):
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.AugAssign | ast.AnnAssign):
                targets = [node.target]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                in_place = node.func.attr in ("assign", "append", "update", "add_", "copy_")
                targets = [node.func.value, *node.args[:1]] if in_place else []
            else:
                continue
            within = [each for target in targets for each in ast.walk(target)]
            written = any(isinstance(e, ast.Attribute) and e.attr == name for e in within)
            if written and isinstance(node, ast.stmt | ast.expr):
                yield node.lineno
