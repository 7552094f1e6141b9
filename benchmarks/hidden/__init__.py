"""Networks typed anew, each with ports that are wrong where the usual sample never comes.

`HIDDEN` has a line for each network: its kind, its name in `pt/` and `ms/`, the inputs as a user
would give them, and the names of the wrong ports.
"""

from typing import Any, NamedTuple

from equivalence.declare.draws import (
    binary,
    given,
    integers,
    normal,
    uniform,
)

MAP, TOKENS = normal(2, 3, 8, 8), normal(2, 7, 6)


class Hidden(NamedTuple):
    """A network, and its wrong ports.

    kind: what the mistakes are about.
    file: the files in `pt/` and `ms/` that have it.
    name: its name in both; that of the right port.
    inputs: the inputs of the usual sample.
    wrong: the names of the wrong ports.
    """

    kind: str
    file: str
    name: str
    inputs: tuple[Any, ...]
    wrong: tuple[str, ...]

    @property
    def reference(self) -> str:
        """The target of the original."""
        return f"{__name__}.pt.{self.file}:{self.name}"

    def candidate(self, name: str = "") -> str:
        """The target of a port; of the right one without a name."""
        return f"{__name__}.ms.{self.file}:{name or self.name}"


def _ones(*shape: int) -> Any:
    size = 1
    for each in shape:
        size *= each
    return given(*shape, values=(1,) * size)


BOXES = (
    given(3, 4, values=(1.0, 1.0, 6.0, 7.0, 2.0, 3.0, 9.0, 8.0, 0.5, 1.5, 4.0, 6.0)),
    given(3, 4, values=(2.0, 2.0, 8.0, 9.0, 1.0, 2.0, 7.0, 6.0, 1.0, 1.0, 5.0, 5.0)),
)

HIDDEN = (
    Hidden("sizes", "sizes", "pooled", (MAP,), ("pooled_floor", "pooled_reshaped")),
    Hidden("sizes", "sizes", "averaged", (normal(2, 3, 7, 7),), ("averaged_ceil",)),
    Hidden("sizes", "sizes", "adaptive", (MAP,), ("adaptive_halved", "adaptive_strided")),
    Hidden("sizes", "sizes", "thinned", (MAP,), ("thinned_pairs", "thinned_fixed")),
    Hidden(
        "sizes",
        "sizes",
        "merged",
        (MAP,),
        ("merged_unpadded", "merged_padded_left", "merged_swapped"),
    ),
    Hidden(
        "sizes",
        "sizes",
        "joined",
        (normal(2, 3, 4, 4), normal(2, 2, 8, 8)),
        ("joined_by_factor", "joined_square"),
    ),
    Hidden(
        "sizes", "sizes", "Positions", (normal(2, 9, 6),), ("PositionsFromEnd", "PositionsWhole")
    ),
    Hidden("sizes", "sizes", "coordinates", (MAP,), ("coordinates_square", "coordinates_of_eight")),
    Hidden(
        "sizes",
        "sizes",
        "windowed",
        (normal(2, 6, 4),),
        ("windowed_divided", "windowed_all", "windowed_first"),
    ),
    Hidden("sizes", "sizes", "relative", (TOKENS,), ("relative_unbounded",)),
    Hidden("sizes", "sizes", "shifted", (normal(2, 5, 4),), ("shifted_of_five",)),
    Hidden(
        "sizes",
        "sizes",
        "differences",
        (normal(2, 6),),
        ("differences_of_six", "differences_rolled"),
    ),
    Hidden("batch", "sizes", "Squeezed", (normal(3, 5),), ("SqueezedAll", "SqueezedFixed")),
    Hidden("batch", "sizes", "Classed", (TOKENS,), ("ClassedFixed", "ClassedTwice")),
    Hidden(
        "batch",
        "sizes",
        "contrastive",
        (normal(4, 6), normal(4, 6)),
        ("contrastive_of_four", "contrastive_wrapped"),
    ),
    Hidden(
        "batch", "sizes", "split_heads", (TOKENS,), ("split_heads_of_two", "split_heads_of_seven")
    ),
    Hidden("batch", "flow", "single", (normal(4, 5),), ("single_centred", "single_plain")),
    Hidden(
        "masks",
        "masks",
        "pooled",
        (TOKENS, _ones(2, 7)),
        ("pooled_unguarded", "pooled_all", "pooled_by_length"),
    ),
    Hidden(
        "masks",
        "masks",
        "attended",
        (TOKENS, _ones(2, 7)),
        ("attended_unmasked", "attended_by_query", "attended_after", "attended_faintly"),
    ),
    Hidden("masks", "masks", "attended_safely", (TOKENS, _ones(2, 7)), ("attended_unsafely",)),
    Hidden(
        "padding",
        "masks",
        "last_token",
        (TOKENS, _ones(2, 7)),
        ("last_token_counted", "last_token_always"),
    ),
    Hidden(
        "padding", "masks", "placed", (TOKENS, _ones(2, 7)), ("placed_plainly", "placed_unclamped")
    ),
    Hidden(
        "padding",
        "masks",
        "of_lengths",
        (TOKENS, given(2, values=(7, 7))),
        ("of_lengths_included", "of_lengths_ignored", "of_lengths_from_end"),
    ),
    Hidden(
        "padding",
        "masks",
        "Reversed",
        (normal(2, 5, 4), given(2, values=(5, 5))),
        ("ReversedWhole",),
    ),
    Hidden(
        "masks",
        "masks",
        "weighted",
        (normal(3, 5), binary(3, 5), given(3, 5, values=(1.0,) * 15)),
        ("weighted_mean", "weighted_not"),
    ),
    Hidden(
        "labels",
        "masks",
        "classified",
        (normal(6, 5), integers(6, high=5)),
        ("classified_minus_one", "classified_over_all"),
    ),
    Hidden("labels", "masks", "smoothed", (normal(4, 5), integers(4, high=3)), ("smoothed_all",)),
    Hidden(
        "labels",
        "masks",
        "Embedded",
        (integers(2, 5, low=1, high=12),),
        ("EmbeddedWhole", "EmbeddedUnguarded"),
    ),
    Hidden(
        "labels",
        "masks",
        "Rows",
        (integers(2, 5, low=2, high=40),),
        ("RowsBounded", "RowsOfPadding", "RowsFromOne"),
    ),
    Hidden(
        "clamps",
        "numbers",
        "Clamped",
        (normal(3, 6),),
        ("ClampedNot", "ClampedAbove", "ClampedFarther"),
    ),
    Hidden("clamps", "numbers", "Normed", (normal(3, 8),), ("NormedNot",)),
    Hidden(
        "clamps",
        "numbers",
        "Sampled",
        (normal(3, 4), normal(3, 4).constant()),
        ("SampledNot", "SampledNearer"),
    ),
    Hidden("clamps", "numbers", "bounded", (normal(3, 6),), ("bounded_not",)),
    Hidden(
        "clamps",
        "numbers",
        "hard",
        (uniform(3, 6, low=-2.0, high=2.0),),
        ("hard_linear", "hard_fifth"),
    ),
    Hidden("clamps", "numbers", "huber", (normal(3, 6), normal(3, 6)), ("huber_square",)),
    Hidden(
        "clamps",
        "numbers",
        "angled",
        (uniform(3, 6, low=-0.9, high=0.9),),
        ("angled_not", "angled_nearer"),
    ),
    Hidden("clamps", "numbers", "rescaled", (normal(3, 6),), ("rescaled_always",)),
    Hidden("clamps", "numbers", "absolute", (uniform(3, 6, low=0.1, high=1.0),), ("absolute_not",)),
    Hidden(
        "epsilons",
        "numbers",
        "rooted",
        (normal(3, 6),),
        ("rooted_larger", "rooted_outside", "rooted_not"),
    ),
    Hidden(
        "epsilons",
        "numbers",
        "RootedLayer",
        (normal(3, 6),),
        ("RootedLayerSmaller", "RootedLayerOutside"),
    ),
    Hidden("epsilons", "numbers", "united", (normal(3, 6),), ("united_added", "united_smaller")),
    Hidden("epsilons", "numbers", "similar", (normal(3, 6), normal(3, 6)), ("similar_larger",)),
    Hidden(
        "epsilons",
        "numbers",
        "logged",
        (uniform(3, 6, low=0.5, high=1.0),),
        ("logged_smaller", "logged_clamped"),
    ),
    Hidden(
        "epsilons",
        "numbers",
        "dice",
        (normal(2, 3, 9), binary(2, 27)),
        ("dice_below", "dice_smaller"),
    ),
    Hidden(
        "ties",
        "numbers",
        "rounded",
        (uniform(3, 6, low=-1.0, high=1.0),),
        ("rounded_up", "rounded_symmetric"),
    ),
    Hidden("ties", "numbers", "gated", (normal(3, 6),), ("gated_at",)),
    Hidden("ties", "numbers", "signed", (normal(3, 6),), ("signed_zero", "signed_above")),
    Hidden(
        "ties",
        "numbers",
        "binned",
        (uniform(3, 6, low=0.0, high=3.0),),
        ("binned_cut", "binned_up"),
    ),
    Hidden(
        "saturation",
        "numbers",
        "soft_maximum",
        (normal(3, 6),),
        ("soft_maximum_naive", "soft_maximum_clamped"),
    ),
    Hidden("saturation", "numbers", "summed", (normal(3, 6),), ("summed_naive",)),
    Hidden("saturation", "numbers", "soft", (normal(3, 6),), ("soft_naive",)),
    Hidden("saturation", "numbers", "bent", (normal(3, 6),), ("bent_by_where",)),
    Hidden(
        "saturation",
        "numbers",
        "mish",
        (normal(3, 6),),
        ("mish_by_exponential", "mish_by_square"),
    ),
    Hidden(
        "saturation",
        "numbers",
        "crossed",
        (normal(3, 6), binary(3, 6)),
        ("crossed_naive", "crossed_by_probability"),
    ),
    Hidden(
        "saturation", "numbers", "focal", (normal(3, 6), binary(3, 6)), ("focal_by_probability",)
    ),
    Hidden("saturation", "numbers", "curved", (normal(3, 6),), ("curved_naive",)),
    Hidden(
        "finite", "numbers", "cleaned", (normal(3, 6),), ("cleaned_of_nan", "cleaned_otherwise")
    ),
    Hidden("finite", "numbers", "checked", (normal(3, 6),), ("checked_not",)),
    Hidden(
        "caches",
        "flow",
        "Causal",
        (normal(2, 7, 4),),
        ("CausalOfSeven", "CausalFromEnd", "CausalKept", "CausalOnce"),
    ),
    Hidden("caches", "flow", "Rotary", (normal(2, 6, 4),), ("RotaryReversed", "RotaryOnce")),
    Hidden(
        "branches",
        "flow",
        "chunked",
        (normal(2, 6, 4),),
        ("chunked_never", "chunked_unweighted", "chunked_later"),
    ),
    Hidden(
        "branches",
        "flow",
        "evened",
        (normal(2, 6, 4),),
        ("evened_by_zeros", "evened_by_first", "evened_by_cutting"),
    ),
    Hidden(
        "branches",
        "flow",
        "tamed",
        (normal(3, 5),),
        ("tamed_not", "tamed_to_one", "tamed_by_clamp"),
    ),
    Hidden(
        "branches", "flow", "stacked", (normal(2, 6, 3),), ("stacked_of_two", "stacked_absolute")
    ),
    Hidden(
        "branches",
        "flow",
        "strided",
        (MAP,),
        ("strided_fixed", "strided_by_height", "strided_whole"),
    ),
    Hidden("branches", "flow", "Averaged", (normal(5, 4),), ("AveragedPlainly",)),
    Hidden(
        "boxes",
        "flow",
        "overlaps",
        BOXES,
        ("overlaps_apart", "overlaps_clamped_late", "overlaps_without_epsilon"),
    ),
    Hidden(
        "boxes",
        "flow",
        "decoded",
        (uniform(3, 4, low=4.0, high=9.0), normal(3, 4)),
        ("decoded_unbounded", "decoded_at_five"),
    ),
    Hidden(
        "boxes",
        "flow",
        "clipped",
        (uniform(3, 4, low=5.0, high=35.0),),
        ("clipped_swapped", "clipped_by_one", "clipped_below"),
    ),
    Hidden(
        "boxes",
        "flow",
        "located",
        (normal(3, 6, 5), integers(4, 2, high=5)),
        ("located_wrapped", "located_by_one"),
    ),
)
"""Every network of the catalogue."""
