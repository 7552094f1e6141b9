"""Equivalent substitutions: one operator in the place of another, or several in that of one."""

from equivalence.declare.draws import integers, normal, ties
from equivalence.declare.twin import Twin, grid

MAPS = [normal(2, 3, 12, 6)]


def twin(name, reference, candidate, inputs, configs=({},), **settings) -> Twin:
    """One whose candidate is in the module for substitutions."""
    return Twin(
        name,
        reference=reference if ":" in reference else f"pt_reference.substitutions:{reference}",
        candidate=f"ms_models.substitutions:{candidate}",
        inputs=inputs,
        configs=configs,
        phases=("train",),
        **settings,
    )


TWINS = (
    twin("squeeze_flatten_and_expand_by_reshape", "reshaped", "Reshaped", [normal(3, 1, 4, 5)]),
    twin(
        "adaptive_avg_pool_by_reshape",
        "torch.nn:AdaptiveAvgPool2d",
        "AdaptiveMeanPool",
        MAPS,
        grid(output_size=(3, 2)),
        without={"other size": "a size must be a multiple of that of the output"},
    ),
    twin(
        "adaptive_avg_pool2d",
        "torch.nn:AdaptiveAvgPool2d",
        "adaptive_avg_pool2d",
        [normal(2, 3, 7, 5)],  # windows that overlap
        grid(output_size=[(3, 2), (None, 4)]),
    ),
    twin(
        "adaptive_max_pool2d",
        "torch.nn:AdaptiveMaxPool2d",
        "adaptive_max_pool2d",
        [normal(2, 3, 7, 5, shift=-2.0)],
        grid(output_size=(3, 2)),
    ),
    twin(
        "max_pool_with_argmax",
        "torch.nn:MaxPool2d",
        "MaxPoolWithArgmax",
        [normal(2, 3, 12, 9, shift=-2.0)],
        grid(kernel_size=3, stride=2, padding=1),
    ),
    twin(
        "sort_by_top_k", "sorted_rows", "SortByTopK", [ties(4, 9)], grid(descending=[True, False])
    ),
    twin(
        "unfold_by_convolution",
        "unfolded",
        "Unfold",
        [normal(2, 3, 8, 7)],
        grid(kernel_size=3, padding=1, stride=2),
    ),
    twin("gathered", "gathered", "Gathered", [normal(6, 5), integers(8, 5, high=5)]),
    twin("one_hot", "one_hot", "OneHot", [integers(4, 3, high=6)], grid(num_classes=6)),
    twin(
        "padded",
        "padded",
        "Padded",
        [normal(2, 3, 5, 6)],
        grid(padding=(1, 2, 2, 1), modes=("constant", "reflect", "replicate", "circular")),
        # finding pad_gradient_in_graph_called_again
        executions=("pynative",),
    ),
)
