"""Mistakes in optimisers and learning rates; no layer is to blame for any of them."""

from tests.defects.makers import built_with, candidate
from tests.defects.victim import victim

OWN = "tests.defects.group_candidates:"
OPTIM, STEP = "tests.defects.optim_candidates:", "tests.defects.step_candidates:"

MOMENTUM = victim("momentum", momentum=0.875).at("update")
NESTEROV = victim("nesterov_momentum").at("update")
DAMPENED = victim("sgd", dampening=0.5).at("update")
ADAM = victim("adam", amsgrad=False).at("update")
ADAM_EPS = victim("adam_eps").at("update")
ADAMW = victim("adamw", amsgrad=False).at("update")
HEAD = victim("head_of_its_own_group").at("update")
TOGETHER = victim("clipped_by_global_norm").at("update")
SCHEDULED = victim("momentum_by_warmup_cosine").at("update")

# fmt: off
GROUPS = (
    candidate("decay_of_gamma_and_beta", MOMENTUM, OPTIM + "decay_everywhere",
        "one group for all parameters", cause="the weight decay for every weight"),
    candidate("decay_of_bias", MOMENTUM.compiled, OPTIM,
        "without groups, which spares gamma and beta alone", cause="another weight decay"),
    candidate("decay_by_default", MOMENTUM, OPTIM,
        "the undecayed group says nothing, and gets the optimiser's own decay",
        cause="the weight decay for every weight"),
    candidate("decay_groups_exchanged", MOMENTUM, OPTIM + "groups_exchanged",
        "gamma, beta and bias decay, and the kernels do not"),
    built_with("decay_forgotten", MOMENTUM.compiled,
        "weight_decay is not handed on", weight_decay=0.0, cause="without weight decay"),
    candidate("bias_of_no_group", MOMENTUM, OPTIM,
        "one parameter is in no group, and never updated"),
    candidate("head_at_a_tenth", MOMENTUM, OPTIM, "a learning rate of its own for one group",
        cause="another learning rate in every step"),
    candidate("gradients_by_name", MOMENTUM.compiled, OPTIM,
        "gradients are handed over in another order than the parameters",
        cause="gradients of gamma and beta exchanged"),
    candidate("adamw_decays_everything", ADAMW, OPTIM, "AdamW without groups",
        cause="the weight decay for every weight"),
)

MOMENTA = (
    built_with("rate_and_momentum_exchanged", MOMENTUM,
        "another order of the two arguments", learning_rate=0.875, momentum=0.1,
        cause="learning rate and momentum exchanged"),
    built_with("momentum_at_its_usual_value", MOMENTUM.compiled, "0.9 for 0.875", momentum=0.9,
        cause="another momentum"),
    candidate("decay_decoupled_from_momentum", MOMENTUM.compiled, OPTIM + "decoupled_decay",
        "weights shrink by themselves, not by way of the gradient",
        cause="decoupled weight decay for an L2 penalty"),
    candidate("averaged_gradient", MOMENTUM, OPTIM, "velocities are exponential averages",
        cause="(a mean for a sum of 8, or 1 - momentum)"),
    candidate("old_velocity", MOMENTUM, OPTIM, "weights move before the velocity does"),
    candidate("velocity_in_half", MOMENTUM.compiled, OPTIM + "half_velocity",
        "the optimiser's state is float16", cause="state in float16"),
    candidate("loss_after_update", MOMENTUM.at("loss"), STEP,
        "the loss that is returned is that of the new weights"),
    built_with("nesterov_forgotten", NESTEROV, "plain momentum", nesterov=False,
        cause="without Nesterov"),
    built_with("dampening_forgotten", DAMPENED.compiled, "plain momentum", dampening=0.0,
        cause="without dampening"),
    candidate("dampened_from_the_start", DAMPENED, OPTIM, "the first gradient is dampened, too",
        cause="first gradient dampened"),
)

ADAMS = (
    built_with("betas_exchanged", ADAM,
        "another order of the two averages", betas=(0.96875, 0.875), cause="betas exchanged"),
    candidate("moments_uncorrected", ADAM.compiled, OPTIM + "uncorrected", "no bias correction",
        cause="without bias correction of both"),
    candidate("second_moment_uncorrected", ADAM, OPTIM,
        "bias correction of the first moment alone",
        cause="without bias correction of the second"),
    candidate("steps_counted_from_two", ADAM, OPTIM + "counted_from_two",
        "the step is counted twice before the first correction", cause="counted from two"),
    built_with("amsgrad_forgotten", victim("adam", amsgrad=True).at("update"),
        "the second moment may shrink", amsgrad=False, cause="without AMSGrad"),
    candidate("epsilon_in_the_root", ADAM_EPS.compiled, OPTIM, "sqrt(v + eps) for sqrt(v) + eps"),
    built_with("epsilon_of_another_optimiser", ADAM_EPS,
        "1e-6, the default of AdamWeightDecay, for what is configured", eps=1e-6),
    candidate("adamw_for_adam", ADAM, OPTIM + "decoupled_adam",
        "decoupled decay for an L2 penalty", cause="decoupled weight decay for an L2"),
    candidate("adam_for_adamw", ADAMW.compiled, OPTIM + "coupled_adamw",
        "an L2 penalty for decoupled decay", cause="an L2 penalty for decoupled"),
    candidate("decay_without_rate", ADAMW, OPTIM,
        "decoupled decay that is not multiplied by the learning rate",
        cause="no learning rate multiplies"),
)

SCHEDULES = (
    candidate("one_step_late", SCHEDULED, OPTIM,
        "the rate of every step is that of the step before", cause="that of the step before"),
    candidate("rate_of_the_next_step", SCHEDULED.compiled, OPTIM,
        "the counter moves on before the rate is looked up", cause="that of the next step"),
    candidate("rate_of_the_first_step", SCHEDULED, OPTIM, "the schedule is asked once",
        cause="that of the first step"),
    candidate("rate_by_epoch", SCHEDULED, OPTIM + "by_epoch", "the rate changes once per epoch"),
    candidate("warmup_forgotten", SCHEDULED.compiled, OPTIM + "without_warmup",
        "the full rate from the first step on", cause="another learning rate"),
    candidate("cosine_from_the_start", SCHEDULED, OPTIM,
        "the cosine counts the steps of the warm-up"),
    candidate("cosine_to_the_last_step", SCHEDULED, OPTIM,
        "the last step gets the rate of the end"),
    candidate("rate_in_velocity", SCHEDULED, OPTIM,
        "velocities of the past keep the rate of their time", cause="within the velocity"),
    candidate("rate_in_half", SCHEDULED.compiled, OPTIM, "the learning rate is float16",
        cause="learning rate in float16"),
    built_with("warmup_from_zero", SCHEDULED,
        "step / warmup_steps of the rate, so that the first update is none", first=0),
    built_with("cosine_to_another_end", SCHEDULED,
        "a hundredth of the peak instead of zero", end=0.00256),
)

OWN_GROUPS = (
    candidate("head_at_common_rate", HEAD, OWN, "the head gets the learning rate of all others",
        cause="another learning rate in every step"),
    candidate("head_at_common_decay", HEAD.compiled, OWN,
        "the head gets the weight decay of all others", cause="another weight decay"),
    candidate("settings_of_head_and_body_exchanged", HEAD, OWN,
        "the first group gets what is meant for the second"),
    candidate("clipped_one_by_one", TOGETHER, OWN,
        "each gradient is clipped by its own norm, not by the common one"),
    candidate("elements_clipped", TOGETHER.compiled, OWN, "elements are clipped for norms"),
    candidate("unclipped", TOGETHER, OWN, "the limit is beyond every norm",
        cause="the reference gives other weights"),
)

DEFECTS = GROUPS + MOMENTA + ADAMS + SCHEDULES + OWN_GROUPS
