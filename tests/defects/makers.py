"""Defects in a line: a function for each way in which people go wrong.

All of them take a name, the victim, and in words what the migrator did. To blame are the victim's
layers; none where `raises` names the error that refuses the defect before anything is compared.
`cause` is a word that the causes in a diagnosis must contain. Tables of defects are laid out by
hand, since a formatter would give every argument a line: code first, then the words.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mindspore import nn

from tests.defects.defect import Defect
from tests.defects.edits import convolution_with, convolutions_with, norms_with, recast, replaced
from tests.defects.victim import WHOLE, Victim

Word = str | None


def _made(
    name: str, victim: Victim, mistake: str, cause: Word = None, raises: Word = None, **way: Any
) -> Defect:
    culprit = None if raises else victim.layers
    return Defect(
        name, mistake, victim.twin, victim.where, culprit, cause=cause, raises=raises, **way
    )


def setting(name: str, victim: Victim, mistake: str, **arguments: Any) -> Defect:
    """Another argument of the constructor, the first of several one that a diagnosis must name.

    setting("epsilon_of_keras", NORM, "1e-3 for 1e-5", eps=1e-3)
    """
    return _made(name, victim, mistake, next(iter(arguments)), arguments=arguments)


def built_with(
    name: str,
    victim: Victim,
    mistake: str,
    cause: Word = None,
    raises: Word = None,
    **arguments: Any,
) -> Defect:
    """Another argument of the constructor, whose name a diagnosis need not contain.

    built_with("nesterov_forgotten", NESTEROV, "plain momentum", nesterov=False)
    """
    return _made(name, victim, mistake, cause, raises, arguments=arguments)


def candidate(name: str, victim: Victim, target: str, mistake: str, **outcome: str) -> Defect:
    """Another candidate, "module:attribute".

    candidate("log_mean_exp", summed(axis=1), HERE + "LogMeanExp", "a mean for the sum")
    candidate("filters_alike", HE, HERE, "one filter for all"), named as the defect is
    """
    target = target + name if target.endswith(":") else target
    return _made(name, victim, mistake, candidate=target, **outcome)


def renamed(
    name: str, victim: Victim, rename: Mapping[str, str], mistake: str, **outcome: str
) -> Defect:
    """Another map of the weights' names.

    renamed("two_for_one", BOTTLENECK, {"bn2": "bn1"}, "two layers, one name", raises="WeightError")
    """
    return _made(name, victim, mistake, rename=rename, **outcome)


def edited(name: str, victim: Victim, edit: Callable, mistake: str, **outcome: str) -> Defect:
    """Any change to the candidate once it is built.

    edited("shuffled", IMAGENET.at("order"), source(shuffle), "another order", cause="order")
    """
    return _made(name, victim, mistake, edit=edit, **outcome)


def variant(name: str, victim: Victim, kind: type[nn.Cell], mistake: str, **outcome: str) -> Defect:
    """Each layer computes as a subclass of its kind does, with its own weights and settings.

    variant("kernel_flipped", RESNET18.at("conv1"), wrong.FlippedKernel, "a true convolution")
    """
    return edited(name, victim, recast(kind, *victim.layers), mistake, **outcome)


def swapped(
    name: str, victim: Victim, make: Callable[[nn.Cell], Any], mistake: str, **outcome: str
) -> Defect:
    """Another layer, made of the right one, stands in the place of each.

    swapped("leaky_relu", BOTTLENECK.at("relu"), lambda _: nn.LeakyReLU(0.1), "Darknet's")
    """
    edit = make if victim.layers == WHOLE else replaced(make, *victim.layers)
    return edited(name, victim, edit, mistake, **outcome)


def norm(
    name: str,
    victim: Victim,
    mistake: str,
    cause: Word = None,
    raises: Word = None,
    **settings: Any,
) -> Defect:
    """Each layer is a BatchNorm that is built with these settings.

    norm("momentum_unconverted", RESNET18.at("bn1"), "as is", momentum=0.1, cause="momentum")
    """
    edit = norms_with(*victim.layers, **settings)
    return _made(name, victim, mistake, cause, raises, edit=edit)


def convolution(
    name: str,
    victim: Victim,
    mistake: str,
    cause: Word = None,
    raises: Word = None,
    **settings: Any,
) -> Defect:
    """Each layer is a convolution that differs from the right one in these settings.

    convolution("stem_without_stride", RESNET18.at("conv1"), "larger", stride=1, cause="stride")
    """
    whole = victim.layers == WHOLE
    edit = convolution_with(**settings) if whole else convolutions_with(*victim.layers, **settings)
    return _made(name, victim, mistake, cause, raises, edit=edit)
