"""Mistakes in what a run keeps in attributes, behind right outputs and gradients."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin
from tests.defects.makers import candidate
from tests.defects.victim import victim

THEIRS, OURS = "tests.defects.attributes_reference:", "tests.defects.attributes_candidates:"

TOKENS = normal(2, 6, 8)

ROUTED = victim("routed_attributes")
KEPT = victim("routed_attributes_in_a_graph").compiled
MAPPED = victim("attention_attributes")
REVERSED = victim("reversed_attributes").evaluated


def twins() -> tuple[Twin, ...]:
    """The right twins; a graph writes none but what is a parameter."""
    eager = {"executions": ("pynative",)}
    kept = {"constants": ("moe.aux",)}
    return (
        Twin("routed_attributes", THEIRS + "Routed", OURS + "Routed", [normal(7, 8)], **eager),
        Twin("routed_by_itself", THEIRS + "Routed", OURS + "by_itself", [normal(7, 8)], **eager),
        Twin(
            "routed_attributes_in_a_graph", THEIRS + "Routed", OURS + "kept", [normal(7, 8)], **kept
        ),
        Twin("attention_attributes", THEIRS + "Attention", OURS + "Attention", [TOKENS], **eager),
        Twin("attention_in_rows", THEIRS + "Attention", OURS + "MapInRows", [TOKENS], **eager),
        Twin("reversed_attributes", THEIRS + "Reversed", OURS + "Reversed", [TOKENS], **eager),
        Twin(
            "reversed_at_sizes",
            THEIRS + "Reversed",
            OURS + "Table",
            [normal(2, "T", 8)],
            sizes=[{"T": 6}, {"T": 4}],
            **eager,
        ),
    )


# fmt: off
DEFECTS = (
    candidate("balance_unscaled", ROUTED.at("moe"), OURS + "unscaled",
        "the balance loss is not multiplied by the number of experts"),
    candidate("balance_of_shares", ROUTED.at("moe"), OURS + "of_shares",
        "the square of the mean share, where one factor is what was chosen"),
    candidate("balance_added_up", ROUTED.at("moe"), OURS + "added_up",
        "the loss of earlier calls stays in the attribute"),
    candidate("balance_unsummed", ROUTED.at("moe"), OURS + "unsummed",
        "a loss for each expert"),
    candidate("router_loss_not_squared", ROUTED.at("moe"), OURS + "not_squared",
        "the mean of the logarithms, not of their squares"),
    candidate("calls_counted_twice", ROUTED.at("moe"), OURS + "counted_twice",
        "each call counts as two"),
    candidate("load_of_other_experts", ROUTED.at("moe"), OURS + "other_load",
        "the counts are in another order"),
    candidate("balance_in_a_parameter_unscaled", KEPT.at("moe"), OURS + "kept_unscaled",
        "a parameter stands for the attribute, and its loss is not multiplied"),
    candidate("map_of_logits", MAPPED, OURS + "MapOfLogits",
        "the map is kept before the softmax"),
    candidate("map_transposed", MAPPED, OURS + "MapTransposed",
        "queries and keys change places in what is kept"),
    candidate("range_exchanged", MAPPED, OURS + "RangeExchanged",
        "the largest is kept before the smallest"),
    candidate("variance_for_spread", REVERSED, OURS + "VarianceForSpread",
        "what is kept is squared"),
    candidate("steps_of_the_batch", REVERSED, OURS + "StepsOfTheBatch",
        "the first axis is counted for the second"),
)
# fmt: on
