"""`equivalence coverage`: what code uses of PyTorch, and which of it this suite has verified."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from equivalence import torchvision_schemas
from equivalence.coverage import usage
from equivalence.coverage.known import GATE, counterparts, demand, gate, load
from equivalence.coverage.text import JudgedCall, data, hint, hints, page, table
from equivalence.coverage.torch_names import computes_nothing
from equivalence.coverage.verdict import Danger, Judge
from equivalence.errors import CoverageError, EquivalenceError
from equivalence.output import demand_writable, write, write_json
from equivalence.report import accepted
from equivalence.targets import build, part, resolve
from equivalence.words import nearest

VERIFIED, UNVERIFIED = 0, 1
"""Exit codes of the command: all of it is verified, or something is not."""


def command(
    target: str,
    arguments: Iterable[tuple[str, Any]],
    fix_hints: bool = False,
    json_file: Path | None = None,
    html_file: Path | None = None,
) -> int:
    """Print the table of a file, of a folder or of "module:attribute"; returns the exit code.

    Raises CoverageError where the target uses no API or cannot be read or built.
    """
    demand_writable(json_file, "--json")
    demand_writable(html_file, "--html")
    if ":" not in target and not Path(target).exists():  # told before the tables are read
        folder = Path(target).parent
        near = nearest(Path(target).name, os.listdir(folder) if folder.is_dir() else ())
        raise CoverageError(
            f"{target} cannot be read: there is no such file or folder{near}; for what is "
            "imported, write MODULE:ATTRIBUTE"
        )
    known = load()
    if ":" in target:
        used = usage.of_module(_build_module(target, dict(arguments)), known.knows)
    elif arguments:
        raise CoverageError(f"{target} is no MODULE:ATTRIBUTE, which alone takes --arguments")
    else:
        torchvision_schemas.declare_missing()
        used = usage.of_path(Path(target), known.knows)
    if not used.calls:
        raise CoverageError(f"{target} uses no API of PyTorch")
    judge = Judge(known)
    judged = []
    for call in used.calls:
        if not computes_nothing(call.api):
            verdict = judge.judge(call)
            judged.append(JudgedCall(call, verdict, hint(call, verdict, judge)))
    judged.sort(key=lambda each: each.verdict.danger)
    versions = known.figures["versions"]
    told = data(target, used, judged, versions)
    write_json(json_file, told)
    if html_file is not None:
        write(html_file, page(told))
    print("\n".join(hints(judged) if fix_hints else table(target, used, judged, versions)))
    right = all(each.verdict.danger is Danger.VERIFIED for each in judged) and not used.others
    return VERIFIED if right else UNVERIFIED


def _build_module(target: str, arguments: Mapping[str, Any]) -> Any:
    import torch

    torchvision_schemas.declare_missing()
    try:
        target_object = resolve(target)
        if isinstance(target_object, torch.nn.Module):
            module = part(target, target_object)
        else:
            module = build(target, arguments)
    except EquivalenceError:
        raise
    except Exception as error:
        raise CoverageError(f"{target} does not build: {type(error).__name__}: {error}") from error
    if not isinstance(module, torch.nn.Module):
        raise CoverageError(f"{target} builds a {type(module).__name__}, not a torch.nn.Module")
    return module


def accept(results: Path, device: str) -> int:
    """Write the figures in a device's results beside the records; returns the exit code."""
    demand("the gate", GATE)
    figures = accepted.collect(accepted.results_of(results, device))
    accepted.demand_all(figures, counterparts(), gate(device))
    path = accepted.path_of(device)
    if path.exists():
        try:
            print(accepted.count_changes(figures, accepted.read(path)))
        except CoverageError as error:
            print(f"what was accepted before is replaced: {error}")
    accepted.write(figures, path)
    print(f"{path}: {accepted.summary(figures)}")
    return 0
