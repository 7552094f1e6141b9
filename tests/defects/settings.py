"""Settings that no sample shows: every tensor is within rounding, and yet it is another network."""

from mindspore import nn

from tests.defects.makers import built_with, swapped
from tests.defects.victim import victim

NORMS = victim("norms_of_large_inputs").evaluated
ACTIVATIONS = victim("activations_above_zero").evaluated
FINE = victim("fine_tuning")
LONG = victim("long_run").at("optimizer")
DROPPING = victim("dropping").at("optimizer")

# fmt: off
DEFECTS = (
    built_with("late_layer_norm_epsilon", NORMS.at("layer"), "1e-6 for 1e-5",
        "eps 1e-05 (reference) 1e-06 (candidate)", layer_eps=1e-6),
    built_with("late_group_norm_epsilon", NORMS.at("group").compiled, "1e-6 for 1e-5",
        "eps 1e-05 (reference) 1e-06 (candidate)", group_eps=1e-6),
    built_with("late_rms_norm_epsilon", NORMS.at("rms"), "1e-6 for 1e-5, in a class of its own",
        "eps 1e-05 (reference) 1e-06 (candidate)", rms_eps=1e-6),
    built_with("momentum_in_evaluation", NORMS.at("batch"), "as it is in PyTorch: 0.9 for 0.1",
        "momentum 0.1 (reference) 0.9 (candidate)", momentum=0.9),
    built_with("epsilon_in_training_only", NORMS.at("batch").compiled, "1e-3 for 1e-5",
        "eps 1e-05 (reference) 0.001 (candidate)", batch_eps=1e-3),
    built_with("slope_without_negatives", ACTIVATIONS.at("leaky"), "0.2 for 0.01",
        "negative_slope 0.01 (reference) 0.2 (candidate)", slope=0.2),
    built_with("upper_bound_never_reached", ACTIVATIONS.at("hard").compiled, "6 for 2",
        "max_val 2 (reference) 6 (candidate)", most=6.0),
    built_with("lower_bound_never_reached", ACTIVATIONS.at("hard"), "-2 for -1",
        "min_val -1 (reference) -2 (candidate)", least=-2.0),
    swapped("relu6_below_six", ACTIVATIONS.at("relu"), lambda _: nn.ReLU6(), "ReLU6 for ReLU",
        cause="kind ReLU (reference) ReLU6 (candidate)"),
    built_with("dropout_in_evaluation", ACTIVATIONS.at("dropout"), "a half for a tenth",
        "p 0.1 (reference) 0.5 (candidate)", p=0.5),
    built_with("smoothing_in_evaluation", ACTIVATIONS.at("loss"), "no smoothing for a tenth",
        "label_smoothing 0.1 (reference) 0 (candidate)", smoothing=0.0),
    built_with("ignored_label_in_evaluation", ACTIVATIONS.at("loss").compiled, "0 for -100",
        "ignore_index -100 (reference) 0 (candidate)", ignored=0),
    built_with("decay_at_a_tiny_rate", FINE.at("optimizer"), "none for 0.01",
        "weight_decay 0.01 (reference) 0 (candidate)", weight_decay=0.0),
    built_with("adam_epsilon_of_large_gradients", FINE.at("optimizer").compiled, "1e-9 for 1e-8",
        "eps 1e-08 (reference) 1e-09 (candidate)", eps=1e-9),
    built_with("clip_that_never_bites", FINE.at("step"), "1e5 for 1e4",
        "clip.limit 10000 (reference) 100000 (candidate)", limit=1e5),
    built_with("warmup_one_step_longer", LONG, "1001 steps for 1000",
        "lr 1e-05 (reference) 9.99001e-06 (candidate) in step 0", warmup_steps=1001),
    built_with("cosine_of_a_longer_run", LONG.compiled, "9100 steps for 9000",
        "(candidate) in step", total_steps=9100),
    built_with("milestone_one_step_late", DROPPING, "step 5001 for step 5000",
        "lr 0.01 (reference) 0.1 (candidate) in step 5000", milestone=5001),
)
