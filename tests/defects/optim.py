"""Mistakes in optimisers and learning rates; no layer is to blame for any of them."""

from tests.defects.defect import Defect
from tests.defects.places import LOSS, UPDATE, compiled

OPTIM, STEP = "tests.defects.optim_candidates:", "tests.defects.step_candidates:"

MOMENTUM = {"twin": "momentum", "where": {"momentum": 0.875}, "culprit": UPDATE}
NESTEROV = {"twin": "nesterov_momentum", "where": {}, "culprit": UPDATE}
DAMPENED = {"twin": "sgd", "where": {"dampening": 0.5}, "culprit": UPDATE}
ADAM = {"twin": "adam", "where": {"amsgrad": False}, "culprit": UPDATE}
ADAM_EPS = {"twin": "adam_eps", "where": {}, "culprit": UPDATE}
ADAMW = {"twin": "adamw", "where": {"amsgrad": False}, "culprit": UPDATE}
SCHEDULED = {"twin": "momentum_by_warmup_cosine", "where": {}, "culprit": UPDATE}


GROUPS = (
    Defect(
        "decay_of_gamma_and_beta",
        "one group for all parameters",
        **MOMENTUM,
        candidate=OPTIM + "decay_everywhere",
    ),
    Defect(
        "decay_of_bias",
        "without groups, which spares gamma and beta alone",
        **compiled(MOMENTUM),
        candidate=OPTIM + "decay_of_bias",
    ),
    Defect(
        "decay_by_default",
        "the undecayed group says nothing, and gets the optimiser's own decay",
        **MOMENTUM,
        candidate=OPTIM + "decay_by_default",
    ),
    Defect(
        "decay_groups_exchanged",
        "gamma, beta and bias decay, and the kernels do not",
        **MOMENTUM,
        candidate=OPTIM + "groups_exchanged",
    ),
    Defect(
        "decay_forgotten",
        "weight_decay is not handed on",
        **compiled(MOMENTUM),
        arguments={"weight_decay": 0.0},
    ),
    Defect(
        "bias_of_no_group",
        "one parameter is in no group, and never updated",
        **MOMENTUM,
        candidate=OPTIM + "bias_of_no_group",
    ),
    Defect(
        "head_at_a_tenth",
        "a learning rate of its own for one group",
        **MOMENTUM,
        candidate=OPTIM + "head_at_a_tenth",
    ),
    Defect(
        "gradients_by_name",
        "gradients are handed over in another order than the parameters",
        **compiled(MOMENTUM),
        candidate=OPTIM + "gradients_by_name",
    ),
    Defect(
        "adamw_decays_everything",
        "AdamW without groups",
        **ADAMW,
        candidate=OPTIM + "adamw_decays_everything",
    ),
)

MOMENTA = (
    Defect(
        "rate_and_momentum_exchanged",
        "another order of the two arguments",
        **MOMENTUM,
        arguments={"learning_rate": 0.875, "momentum": 0.1},
    ),
    Defect(
        "momentum_at_its_usual_value",
        "0.9 for 0.875",
        **compiled(MOMENTUM),
        arguments={"momentum": 0.9},
    ),
    Defect(
        "decay_decoupled_from_momentum",
        "weights shrink by themselves, not by way of the gradient",
        **compiled(MOMENTUM),
        candidate=OPTIM + "decoupled_decay",
    ),
    Defect(
        "averaged_gradient",
        "velocities are exponential averages",
        **MOMENTUM,
        candidate=OPTIM + "averaged_gradient",
    ),
    Defect(
        "old_velocity",
        "weights move before the velocity does",
        **MOMENTUM,
        candidate=OPTIM + "old_velocity",
    ),
    Defect(
        "velocity_in_half",
        "the optimiser's state is float16",
        **compiled(MOMENTUM),
        candidate=OPTIM + "half_velocity",
    ),
    Defect(
        "loss_after_update",
        "the loss that is returned is that of the new weights",
        **{**MOMENTUM, "culprit": LOSS},
        candidate=STEP + "loss_after_update",
    ),
    Defect(
        "nesterov_forgotten",
        "plain momentum",
        **NESTEROV,
        arguments={"nesterov": False},
    ),
    Defect(
        "dampening_forgotten",
        "plain momentum",
        **compiled(DAMPENED),
        arguments={"dampening": 0.0},
    ),
    Defect(
        "dampened_from_the_start",
        "the first gradient is dampened, too",
        **DAMPENED,
        candidate=OPTIM + "dampened_from_the_start",
    ),
)

ADAMS = (
    Defect(
        "betas_exchanged",
        "another order of the two averages",
        **ADAM,
        arguments={"betas": (0.96875, 0.875)},
    ),
    Defect(
        "moments_uncorrected",
        "no bias correction",
        **compiled(ADAM),
        candidate=OPTIM + "uncorrected",
    ),
    Defect(
        "second_moment_uncorrected",
        "bias correction of the first moment alone",
        **ADAM,
        candidate=OPTIM + "second_moment_uncorrected",
    ),
    Defect(
        "steps_counted_from_two",
        "the step is counted twice before the first correction",
        **ADAM,
        candidate=OPTIM + "counted_from_two",
    ),
    Defect(
        "amsgrad_forgotten",
        "the second moment may shrink",
        **{"twin": "adam", "where": {"amsgrad": True}, "culprit": UPDATE},
        arguments={"amsgrad": False},
    ),
    Defect(
        "epsilon_in_the_root",
        "sqrt(v + eps) for sqrt(v) + eps",
        **compiled(ADAM_EPS),
        candidate=OPTIM + "epsilon_in_the_root",
    ),
    Defect(
        "epsilon_of_another_optimiser",
        "1e-6, the default of AdamWeightDecay, for what is configured",
        **ADAM_EPS,
        arguments={"eps": 1e-6},
    ),
    Defect(
        "adamw_for_adam",
        "decoupled decay for an L2 penalty",
        **ADAM,
        candidate=OPTIM + "decoupled_adam",
    ),
    Defect(
        "adam_for_adamw",
        "an L2 penalty for decoupled decay",
        **compiled(ADAMW),
        candidate=OPTIM + "coupled_adamw",
    ),
    Defect(
        "decay_without_rate",
        "decoupled decay that is not multiplied by the learning rate",
        **ADAMW,
        candidate=OPTIM + "decay_without_rate",
    ),
)

SCHEDULES = (
    Defect(
        "one_step_late",
        "the rate of every step is that of the step before",
        **SCHEDULED,
        candidate=OPTIM + "one_step_late",
    ),
    Defect(
        "rate_of_the_next_step",
        "the counter moves on before the rate is looked up",
        **compiled(SCHEDULED),
        candidate=OPTIM + "rate_of_the_next_step",
    ),
    Defect(
        "rate_of_the_first_step",
        "the schedule is asked once",
        **SCHEDULED,
        candidate=OPTIM + "rate_of_the_first_step",
    ),
    Defect(
        "rate_by_epoch",
        "the rate changes once per epoch",
        **SCHEDULED,
        candidate=OPTIM + "by_epoch",
    ),
    Defect(
        "warmup_forgotten",
        "the full rate from the first step on",
        **compiled(SCHEDULED),
        candidate=OPTIM + "without_warmup",
    ),
    Defect(
        "cosine_from_the_start",
        "the cosine counts the steps of the warm-up",
        **SCHEDULED,
        candidate=OPTIM + "cosine_from_the_start",
    ),
    Defect(
        "cosine_to_the_last_step",
        "the last step gets the rate of the end",
        **SCHEDULED,
        candidate=OPTIM + "cosine_to_the_last_step",
    ),
    Defect(
        "rate_in_velocity",
        "velocities of the past keep the rate of their time",
        **SCHEDULED,
        candidate=OPTIM + "rate_in_velocity",
    ),
    Defect(
        "rate_in_half",
        "the learning rate is float16",
        **compiled(SCHEDULED),
        candidate=OPTIM + "rate_in_half",
    ),
    Defect(
        "warmup_from_zero",
        "step / warmup_steps of the rate, so that the first update is none",
        **SCHEDULED,
        arguments={"first": 0},
    ),
    Defect(
        "cosine_to_another_end",
        "a hundredth of the peak instead of zero",
        **SCHEDULED,
        arguments={"end": 0.00256},
    ),
)

DEFECTS = GROUPS + MOMENTA + ADAMS + SCHEDULES
