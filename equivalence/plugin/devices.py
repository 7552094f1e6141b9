"""`--mode` and `--rehearse`: the compute modes of a run; and one card for each worker of xdist."""

import ast
import os
from typing import Any

import pytest

from equivalence.errors import EquivalenceError
from equivalence.host import devices
from equivalence.host.devices import DEVICES, MODES
from equivalence.plugin import records as record_plugin

PLACES = pytest.StashKey[dict[str, str]]()
"""The places of devices before this run, which its end restores."""

CARDS = "cards"
"""Key of a worker's input: environment variable -> the card that the worker may use."""

ROUNDED_PRODUCTS = "rounded products"
"""Property of a test that rehearsed a case: the number of products that were rounded."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("equivalence")
    group.addoption(
        "--mode",
        choices=MODES,
        help="what float32 is multiplied in, on devices that have the choice; MindSpore sets it "
        "once in a process (default: tf32 on gpu, hf32 on ascend)",
    )
    group.addoption(
        "--rehearse",
        metavar="DEVICE",
        help="run the cases of the CPU in the arithmetic of gpu or ascend, and judge them by its "
        "unit roundoff",
    )


def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        os.environ.update(worker.get(CARDS, {}))  # before MindSpore is imported
    mode, rehearsed = config.getoption("mode"), config.getoption("rehearse")
    named = named_devices(config.option.markexpr)
    choices = [device for device in DEVICES if device != "cpu"]
    if rehearsed is not None and rehearsed not in choices:
        raise pytest.UsageError(
            f"--rehearse {rehearsed}: there is no such device to rehearse; choose "
            f"{' or '.join(choices)}"
        )
    others = [device for device in named if device != "cpu"]
    if rehearsed is not None and others:
        raise pytest.UsageError(
            f"-m names the device {others[0]}, but a rehearsal runs on the CPU: choose `-m cpu`, "
            "or leave out --rehearse"
        )
    asked = [rehearsed] if rehearsed else named
    for device in asked if mode else ():
        if mode not in DEVICES[device].modes:
            raise pytest.UsageError(devices.lacking(device, mode))
    try:
        config.stash[PLACES] = devices.choose(mode, rehearsed)
    except EquivalenceError as error:
        raise pytest.UsageError(str(error)) from None
    if worker is None:
        if rehearsed:
            config.pluginmanager.register(Tally(), "equivalence-rehearsal")
        workers = config.getoption("numprocesses", None)  # without xdist there is no such option
        if workers and record_plugin.needs_devices(config):
            _share_cards(config, others, workers)


def pytest_unconfigure(config: pytest.Config) -> None:
    if (before := config.stash.get(PLACES, None)) is not None:
        devices.restore(before)


def named_devices(expression: str) -> list[str]:
    """The devices that a `-m` expression names and does not negate."""
    try:
        tree = ast.parse(expression.strip() or "()", mode="eval")
    except SyntaxError:
        return []  # pytest complains about it
    names = _positive_names(tree.body)
    return [device for device in DEVICES if device in names]


def _positive_names(node: ast.expr, negated: bool = False) -> set[str]:
    """The names that an expression of `and`, `or`, `not` does not negate."""
    if isinstance(node, ast.UnaryOp):
        return _positive_names(node.operand, not negated)
    if isinstance(node, ast.BoolOp):
        return set().union(*(_positive_names(value, negated) for value in node.values))
    return {node.id} if isinstance(node, ast.Name) and not negated else set()


def repeat_options(config: pytest.Config) -> str:
    """The options for the place of a case, for the command that repeats it."""
    options = ((name, config.getoption(name)) for name in ("mode", "rehearse"))
    return "".join(f" --{name} {value}" for name, value in options if value)


def _share_cards(config: pytest.Config, named: list[str], workers: int) -> None:
    """Give each worker its own card of each named device.

    Raises pytest.UsageError if there are more workers than cards.
    """
    for device in named:
        cards, variable = devices.cards(device), DEVICES[device].visible or ""
        if workers > len(cards) > 0:
            raise pytest.UsageError(
                f"-n {workers} starts more workers than there are {device} cards for: {len(cards)} "
                f"({variable}={os.environ.get(variable, 'unset')}); run with -n {len(cards)}, or "
                f"make with JOBS={len(cards)}"
            )
        config.pluginmanager.register(Cards(variable, cards), f"cards-{device}")


class Cards:
    """On the controller: gives each worker a card of a device; a worker's end frees its card.

    variable: the environment variable that restricts a process to its card.
    cards: the cards of the device.
    """

    def __init__(self, variable: str, cards: list[str]):
        self.variable, self.free = variable, list(cards)
        self.held: dict[str, str] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        card = self.held[node.gateway.id] = self.free.pop(0)
        node.workerinput.setdefault(CARDS, {})[self.variable] = card

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        if (card := self.held.pop(node.gateway.id, None)) is not None:
            self.free.append(card)


class Tally:
    """On the controller of a rehearsal: counts the cases with and without rounded products."""

    def __init__(self) -> None:
        self.rounded = self.without = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        products: Any = dict(report.user_properties).get(ROUNDED_PRODUCTS)
        if report.when == "call" and products is not None:
            self.rounded += products > 0
            self.without += products == 0

    def pytest_terminal_summary(self, terminalreporter) -> None:
        if self.rounded + self.without:
            terminalreporter.section("rehearsal")
            terminalreporter.line(
                f"{devices.places()['cpu']}: {self.rounded} cases with rounded products, "
                f"{self.without} without any convolution or matrix product"
            )
