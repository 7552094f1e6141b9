"""Training recipes from the files to the updated weights, stage by stage."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from equivalence.declare.batches import Batches
from equivalence.declare.twin import Case, Twin, cases
from equivalence.initials.compare import Initial, InitialCase
from equivalence.pipelines.compare import PipelineCase
from tests.pipelines import declared as pipelines

PIPELINES = {pipeline.name: pipeline for pipeline in pipelines()}


@dataclass(frozen=True)
class Recipe:
    """A way to train a network: its data, its initial weights, and its step.

    Each stage is a case of its own that is fed what the reference gives, so that a wrong stage
    leaves the others right. `step` is a twin whose inputs are the batches of a pipeline.
    """

    step: Twin
    initial: Initial

    @property
    def name(self) -> str:
        return self.step.name

    def stages(self, device: str) -> Iterator[tuple[str, PipelineCase | InitialCase | Case]]:
        """The stages in order: (name, case)."""
        yield "preprocessing", self.step.inputs.case
        yield "initial_weights", InitialCase(self.initial, self.initial.configs[0])
        every = list(cases(self.step, device))
        for case in every:
            twin = replace(case.network.twin, name=f"{self.name}_network")
            yield "forward_and_backward", replace(case, twin=twin)
        for case in every:
            yield "update", case


def fed(pipeline: str, together: int | None = None, **config: Any) -> Batches:
    """The batches of a declared pipeline."""
    return Batches(PIPELINES[pipeline], config, together)


def recipe(name: str, step: str, inputs: Batches, config: Mapping, **settings: Any) -> Recipe:
    """A recipe of `pt_reference.recipes` and `ms_models.recipes`."""
    initial = settings.pop("initial", None) or Initial(
        f"{name}_weights",
        reference="pt_reference.resnet:resnet",
        candidate="ms_models.resnet:resnet",
        configs=[{"depth": config["depth"]}],  # few classes make a bias too small to test
    )
    twin = Twin(
        name,
        reference=f"pt_reference.recipes:{step}",
        candidate=f"ms_models.recipes:{settings.pop('candidate', step)}",
        configs=[config],
        inputs=inputs,
        phases=("train",),
        **settings,
    )
    return Recipe(twin, initial)


SMALL = Initial(
    "small_network",
    reference="pt_reference.small:SmallNetwork",
    candidate="ms_models.small:SmallNetwork",
    configs=[{"num_classes": 10}],
)
# Two epochs of eight batches each.
CURVE = {
    "step": "epoch",
    "inputs": fed("cifar10_train", 8, size=32, batch_size=8, num_samples=128, drop_remainder=True),
    "config": {"num_classes": 10, "warmup_steps": 4, "total_steps": 16, "weight_decay": 0.01},
    "initial": SMALL,
    "steps": 2,
}
IMAGENET = {"num_classes": 10, "warmup_steps": 5, "total_steps": 450}

RECIPES = (
    recipe("training_run", **CURVE),
    recipe("training_run_by_model", candidate="epoch_by_model", executions=("pynative",), **CURVE),
    recipe(
        "resnet18_on_imagenet",
        "resnet_on_imagenet",
        fed("imagenet_eval", resize=36, crop=32, batch_size=4),
        {"depth": 18, **IMAGENET},
        steps=1,
    ),
    recipe(
        "resnet50_on_imagenet",
        "resnet_on_imagenet",
        fed("imagenet_eval", resize=256, crop=224, batch_size=4),
        {"depth": 50, **IMAGENET},
        steps=1,
        level="nightly",
    ),
    recipe(
        "resnet50_on_cifar10",
        "resnet_on_cifar10",
        # Not cropped: where a crop pads, pixels are equal, the windows of the max pooling tie, and
        # the gradient of the image may go to any of them.
        fed("cifar10_eval", size=64, batch_size=8, num_samples=8),
        {"depth": 50, "num_classes": 10},
        steps=1,
        level="nightly",
    ),
)
