"""Mistakes in random layers, and in what a network keeps from one call to the next."""

from mindspore import nn

from tests.defects import random_candidates as wrong
from tests.defects.makers import candidate, edited, swapped
from tests.defects.victim import victim

HERE = "tests.defects.random_candidates:"

CLASSIFIER = victim("dropped_classifier")
ENCODER = victim("dropped_encoder_layer")
PATHS = victim("drop_path")
ATTENDING = victim("dropped_attending")
AUGMENTED = victim("augmented")


def _attention_of_no_share(cell) -> None:
    cell.self_attn.dropout = 0.0


# fmt: off
DEFECTS = (
    swapped("share_kept_for_share_dropped", CLASSIFIER.at("drop"),
        lambda old: nn.Dropout(p=1.0 - old.p), "keep_prob for p", cause="p 0.3"),
    swapped("dropout_left_out", CLASSIFIER.compiled.at("drop"),
        lambda _: nn.Identity(), "no dropout before the head", cause="only the reference"),
    swapped("elements_for_channels", CLASSIFIER.at("drop_channels"),
        lambda _: nn.Dropout(p=0.3), "Dropout for Dropout2d", cause="independent parts"),
    swapped("channels_of_other_share", CLASSIFIER.compiled.at("drop_channels"),
        lambda _: nn.Dropout2d(0.5), "the default share", cause="p 0.3"),
    swapped("dropout_twice", CLASSIFIER.at("drop"), wrong.with_dropout_twice,
        "once in the head, once before it", cause="only the candidate"),
    candidate("dropout_function_forgotten", CLASSIFIER, HERE + "WithoutFunction",
        "what no list of layers shows", cause="only the reference"),
    candidate("dropout_function_of_other_share", CLASSIFIER.compiled,
        HERE + "FunctionOfOtherShare", "that of the layers", cause="p 0.15"),
    candidate("dropout_function_in_evaluation", CLASSIFIER.evaluated,
        HERE + "FunctionInEvaluation", "`training` is not handed on", cause="only the candidate"),
    edited("attention_without_dropout", ENCODER.at("self_attn"), _attention_of_no_share,
        "the share of attention is not handed on", cause="only the reference"),
    swapped("path_dropped_without_scale", PATHS.at("path1"), lambda old: wrong.Unscaled(old.p),
        "what is kept is not divided by its share", cause="scale"),
    swapped("path_dropped_by_element", PATHS.at("path1"), lambda old: wrong.ByElement(old.p),
        "a mask of the shape of the input", cause="independent parts"),
    swapped("path_dropped_at_other_share", PATHS.compiled.at("path2"),
        lambda old: type(old)(2.0 * old.p), "the same share in every layer", cause="p 0.1"),
    candidate("dropout_behind_the_addition", ATTENDING, HERE + "BehindAddition",
        "also what goes past the branch is dropped"),
    candidate("dropout_on_the_shortcut", ATTENDING, HERE + "OnShortcut",
        "what goes past the branch is dropped instead"),
    candidate("dropout_on_the_norm", ATTENDING.at("drop_weights", "drop_out"), HERE + "OnNorm",
        "what the attention takes is dropped, not what it gives"),
    candidate("dropout_before_the_softmax", ATTENDING, HERE + "BeforeSoftmax",
        "scores are dropped, not weights"),
    candidate("dropout_before_the_projection", ATTENDING, HERE + "BeforeProjection",
        "what the projection takes is dropped, not what it gives"),
    candidate("dropout_before_the_activation", ATTENDING, HERE + "BeforeActivation",
        "a sigmoid makes 0.5 of what is dropped"),
    candidate("path_dropped_behind_the_addition", PATHS, HERE + "PathBehindAddition",
        "the shortcut is dropped, too"),
    candidate("path_dropped_before_the_activation", PATHS, HERE + "PathBeforeActivation",
        "a sigmoid makes 0.5 of a path that is dropped"),
    swapped("noise_multiplied", AUGMENTED.at("noise"), lambda _: wrong.Multiplied(),
        "x (1 + noise) for x + noise"),
    swapped("noise_of_the_other_phase", AUGMENTED.at("noise"), lambda _: wrong.Halved(),
        "half the deviation"),
    swapped("slopes_of_the_defaults", AUGMENTED.at("slopes"), lambda _: wrong.DefaultSlopes(),
        "1/8 to 1/3, the defaults of RReLU"),
    swapped("masks_one_longer", AUGMENTED.at("masks"), lambda _: wrong.Longer(),
        "the end of a mask is in it"),
    candidate("noise_behind_the_activation", AUGMENTED.at("noise", "slopes"), HERE + "NoiseBehind",
        "noise is added to what the slopes give"),
    candidate("weight_cached_in_the_first_call", PATHS.evaluated, HERE + "CachedWeight",
        "loaded weights are not used after the first call"),
    candidate("scaled_from_the_second_call", PATHS, HERE + "Counting",
        "a counter that the output depends on"),
    candidate("scaled_by_a_count_of_its_own", PATHS, HERE + "CountingInABuffer",
        "a counter in a buffer that the original does not have"),
    candidate("cache_not_emptied", PATHS.evaluated, HERE + "GrowingCache",
        "what earlier calls left behind is added"),
    candidate("scale_of_the_first_input", PATHS, HERE + "FirstScale",
        "a constant that is computed once, from an input"),
)
