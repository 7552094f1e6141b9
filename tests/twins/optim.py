"""Optimisers, schedules, clipping, loss scaling and accumulation, by the updates they make.

Most are fed the gradient itself, see `pt_reference.given`: weights of every role, two rows of
gradients in each of ten steps. Weight decays are large, clips bite, schedules change every step.
"""

from equivalence.declare.difference import Difference
from equivalence.declare.draws import Draw, integers, logits, normal, uniform
from equivalence.declare.twin import Twin, grid

TRAINED = {"phases": ("train",)}
# A difference is one of formulas; one execution shows it.
ONCE = {"executions": ("pynative",)}
# Of ten steps; the first loss is that of the given weights. A loss is a sum that may nearly cancel.
LATER_LOSSES = [f"loss[{step}]" for step in range(2, 11)]
PT, MS = "pt_reference.given:", "ms_models.given:"


def gradients(draw=normal, rows: int | str = 2, **options) -> list[Draw]:
    """A draw for each parameter of `GivenGradients`."""
    shapes = [(8, 3, 3, 3), (8,), (8,), (5, 8), (5,)]
    return [draw(rows, *shape, **options) for shape in shapes]


def given(name: str, configs, reference: str, candidate: str | None = None, **settings) -> Twin:
    """Ten steps of which the batch is the gradient."""
    settings = {"inputs": gradients(), "steps": 10, **TRAINED} | settings
    return Twin(
        name,
        reference=PT + reference,
        candidate=MS + (candidate or reference),
        configs=configs,
        **settings,
    )


# Magnitudes from 1/10 to 10, so that an eps of 1e-2 shows where gradients are small.
UNEVEN = gradients(logits, rows=1, largest=10.0)
# Magnitudes from 1/2 to 2: no weight decay cancels such a gradient, so that an eps of 1e-8, which
# `nn.Adam` adds before the bias correction, shows nowhere.
EVEN = gradients(logits, rows=1, largest=2.0)
ADAM = {"learning_rate": 0.1, "betas": (0.875, 0.96875), "weight_decay": 0.1}

OPTIMISERS = (
    given(
        "momentum",
        grid(learning_rate=0.1, momentum=0.875, weight_decay=0.1, nesterov=False),
        "momentum",
    ),
    given(
        "momentum_in_one_step_cell",
        grid(learning_rate=0.1, momentum=0.875, weight_decay=0.1),
        "momentum",
        "one_step_cell",
    ),
    given(
        "nesterov_momentum",
        grid(learning_rate=0.1, momentum=0.875, weight_decay=0.1, nesterov=True),
        "momentum",
        "nesterov_momentum",
    ),
    given(
        "nesterov_ignored",
        grid(learning_rate=0.1, momentum=0.875, weight_decay=0.1, nesterov=True),
        "momentum",
        differs=Difference(
            "the CPU kernel of nn.Momentum takes no notice of use_nesterov",
            # In the first step exactly m / (1 + m) of the update is missing.
            {"update[1]:*": 0.4667, "update[10]:*": 0.4} | dict.fromkeys(LATER_LOSSES, 0.7),
        ),
        **ONCE,
    ),
    given(
        "sgd",
        grid(learning_rate=0.1, momentum=0.875, weight_decay=0.1, dampening=0.5)
        + grid(learning_rate=0.1, momentum=0.875, weight_decay=0.1, nesterov=True)
        + grid(learning_rate=0.1, weight_decay=0.1),
        "sgd",
    ),
    given(
        "adam",
        grid(**ADAM, eps=1e-8, amsgrad=[False, True]),
        "adam",
        inputs=EVEN,
        without={"epsilon": "nn.Adam adds it before the second moment is corrected for its bias"},
    ),
    given("adam_as_configured", grid(learning_rate=1e-3, weight_decay=0.1), "adam", inputs=EVEN),
    given(
        "adam_ungrouped",
        grid(learning_rate=1e-3, weight_decay=0.1),
        "adam",
        "ungrouped_adam",
        inputs=EVEN,
        differs=Difference(
            "without groups an optimiser of mindspore.nn decays neither gamma nor beta",
            {"update[*]:norm.*": 1.0} | dict.fromkeys(LATER_LOSSES, 0.003),
        ),
        **ONCE,
    ),
    given(
        "adam_eps_uncorrected",
        grid(**ADAM, eps=1e-2),
        "adam",
        inputs=UNEVEN,
        differs=Difference(
            "nn.Adam adds eps before the second moment is corrected for its bias",
            {"update[1]:*": 0.5, "update[10]:*": 0.2} | dict.fromkeys(LATER_LOSSES, 0.15),
        ),
        **ONCE,
    ),
    given("adam_eps", grid(**ADAM, eps=1e-2), "adam", "corrected_adam", inputs=UNEVEN),
    given("adamw", grid(**ADAM, eps=1e-2, amsgrad=[False, True]), "adamw", inputs=UNEVEN),
    given("bert_adam", grid(**ADAM, eps=1e-2), "bert_adam", inputs=UNEVEN),
    given(
        "adamw_by_bert_adam",
        grid(**ADAM, eps=1e-8),
        "adamw",
        "bert_adam",
        inputs=UNEVEN,
        differs=Difference(
            "nn.AdamWeightDecay does not correct the bias of the moments",
            {"update[1]:*": 0.4, "update[10]:*": 0.8} | dict.fromkeys(LATER_LOSSES, 0.4),
        ),
        **ONCE,
    ),
)

SCHEDULED = (
    given(
        "momentum_by_schedule",
        grid(learning_rate=0.256, schedule="cosine", total_steps=12, each=3),
        "scheduled",
    ),
    given(
        "momentum_by_warmup_cosine",
        grid(learning_rate=0.256, schedule="warmup_cosine", warmup_steps=4, total_steps=12),
        "scheduled",
    ),
    given(
        "momentum_by_computed_warmup_cosine",
        grid(learning_rate=0.256, schedule="warmup_cosine", warmup_steps=4, total_steps=12),
        "scheduled",
        "computed_warmup_cosine",
    ),
)

STEPS = (
    given(
        "clipped_momentum",
        grid(clip="clip_norm", limit=[2.0, 1e3], loss_scale=1024.0)
        + grid(clip="clip_value", limit=0.5, loss_scale=1024.0),
        "clipped",
    ),
    Twin(
        "clipped_by_global_norm",
        reference="pt_reference.groups:clipped_together",
        candidate="ms_models.groups:clipped_together",
        # The common norm is about 12, that of no single shift or bias above 4.
        configs=grid(learning_rate=0.1, limit=4.0),
        inputs=gradients(),
        steps=10,
        **TRAINED,
    ),
    Twin(
        "head_of_its_own_group",
        reference="pt_reference.groups:head_apart",
        candidate="ms_models.groups:head_apart",
        configs=grid(learning_rate=0.1, weight_decay=0.1, head_rate=0.025, head_decay=0.4),
        inputs=gradients(),
        steps=10,
        **TRAINED,
    ),
    given("fixed_loss_scale", grid(loss_scale=1024.0), "fixed_loss_scale"),
    given("managed_loss_scale", grid(loss_scale=1024.0), "fixed_loss_scale", "managed_loss_scale"),
    given(
        # Elements of almost 6 overflow single precision at a scale of 2^127 and of 2^126, and not
        # at 2^125: updates 1, 2, 6 and 10 are skipped.
        "dynamic_loss_scale",
        grid(loss_scale=2.0**127, window=3),
        "dynamic_loss_scale",
        inputs=gradients(uniform, rows=1, low=-6.0, high=6.0),
    ),
    given(
        # Micro-batches of 2, 2, 2, 2 and 1 rows: three updates, the last by an incomplete set.
        "accumulated_gradients",
        grid(size=2, every=2, ROWS=9, clip=[None]),
        "accumulating",
        inputs=gradients(rows="ROWS"),
        steps=4,
    ),
    given(
        "accumulated_gradients_clipped",
        grid(size=2, every=2, ROWS=9, clip=[2.0]),
        "accumulating",
        inputs=gradients(rows="ROWS"),
        steps=4,
        releases={"graph": ">=2.8"},
    ),
)

# What a step keeps beside its network; no update shows it.
KEPT = tuple(
    Twin(
        name,
        reference=f"pt_reference.state:{side}",
        candidate=f"ms_models.state:{side}",
        configs=configs,
        inputs=gradients(),
        steps=5,
        level="nightly",
        **TRAINED,
    )
    for name, side, configs in (
        ("averaged_weights", "averaging", grid(decay=0.96875)),
        ("scaler_of_a_long_window", "scaled", grid(loss_scale=1024.0, window=2000)),
        ("gradients_of_several_calls", "in_micro_batches", grid(every=3)),
    )
)


# 90 epochs of 5 steps, the first 5 epochs of them warm-up.
RUN = {"total_steps": 450}
WARMED = {"warmup_steps": 25, **RUN}


def tabulated(name: str, configs, rates: str, candidate: str | None = None, **settings) -> Twin:
    """The rates of many steps at once, as multiples of a peak."""
    return Twin(
        name,
        reference="pt_reference.schedules:" + rates,
        candidate="ms_models.schedules:" + (candidate or rates),
        configs=configs,
        inputs=[integers(400, high=RUN["total_steps"]), uniform(1, low=0.1, high=0.5)],
        **TRAINED,
        **settings,
    )


CANCELS = 1e4
"""The bound of a gradient of one number, the product of all rates with their cotangents. In one of
some hundred seeds it cancels to nearly nothing; the rates themselves have a bound of their own."""

SCHEDULES = (
    tabulated("warmup_cosine", grid(**WARMED, end=[0.0, 0.01]), "warmup_cosine_rates"),
    tabulated(
        "computed_warmup_cosine",
        grid(**WARMED, end=0.01, first=[0, 1]),
        "warmup_cosine_rates",
        "computed_warmup_cosine_rates",
    ),
    tabulated(
        "warmup_from_zero",
        grid(**WARMED),
        "warmup_cosine_rates",
        "rates_from_zero",
        differs=Difference(
            "nn.WarmUpLR has step / warmup_steps of the rate in a step, none in the first",
            {"output.0": 0.04, "gradient:input[1]": CANCELS},
        ),
        **ONCE,
    ),
    tabulated("cosine", grid(**RUN, end=0.01, each=[1, 5]), "cosine_rates"),
    tabulated("computed_cosine", grid(**RUN, end=0.01), "cosine_rates", "computed_cosine_rates"),
    tabulated(
        "cosine_by_epoch",
        grid(**RUN),
        "cosine_rates",
        "cosine_rates_by_epoch",
        differs=Difference(
            "nn.cosine_decay_lr changes the rate once per epoch",
            {"output.0": 0.02, "gradient:input[1]": CANCELS},
        ),
        **ONCE,
    ),
    tabulated(
        "cosine_of_the_warmup",
        grid(**RUN),
        "cosine_rates",
        "cosine_rates_of_the_warmup",
        differs=Difference(
            "the last argument of nn.cosine_decay_lr is not the warm-up but the decay's length",
            {"output.0": 1.5, "gradient:input[1]": CANCELS},
        ),
        **ONCE,
    ),
    tabulated("step_decay", grid(**RUN, every=150, factor=0.1), "step_decay_rates"),
    tabulated(
        "computed_step_decay",
        grid(**RUN, every=150, factor=0.1),
        "step_decay_rates",
        "computed_step_decay_rates",
    ),
    tabulated("milestones", grid(**RUN, steps=(150, 300, 400), factor=0.1), "milestone_rates"),
)

IMAGES = [normal(8, 3, 9, 7), integers(8, high=5)]

CIFAR10 = {
    "reference": "pt_reference.small:cifar10_step",
    "configs": grid(learning_rate=1e-3, weight_decay=0.1),
    "inputs": IMAGES,
    "steps": 10,
    **TRAINED,
}

RECIPES = (
    Twin(
        "imagenet_recipe",
        reference="pt_reference.small:imagenet_step",
        candidate="ms_models.small:imagenet_step",
        configs=grid(warmup_steps=3, total_steps=12, weight_decay=0.1),
        inputs=IMAGES,
        steps=10,
        **TRAINED,
    ),
    Twin("cifar10_recipe", candidate="ms_models.small:cifar10_step", **CIFAR10),
    Twin(
        "cifar10_recipe_by_nn_adam",
        reference="pt_reference.faint:cifar10_step",
        candidate="ms_models.faint:cifar10_step_by_nn_adam",
        differs=Difference(
            "nn.Adam adds eps before the bias correction, which small gradients show at 1e-8",
            {"update[*]:*": 0.5, "loss[2]": 2e-5, "loss[3]": 2e-5, "handed[3]:*": 0.01},
        ),
        # A weight decay of 0.1 would make the gradients large, and a rate of 1e-3 lets the rounding
        # of the weights hide it.
        configs=grid(learning_rate=1e-2, weight_decay=1e-5),
        inputs=IMAGES,
        steps=3,
        **ONCE,
        **TRAINED,
    ),
)

TWINS = OPTIMISERS + SCHEDULED + STEPS + KEPT + SCHEDULES + RECIPES
