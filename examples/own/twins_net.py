"""What is compared. pytest finds this file by its name."""

from equivalence import Twin, grid, normal

TWINS = (
    Twin(
        "net",
        reference="net_torch:Net",
        candidate="net_mindspore:Net",
        configs=grid(channels=8, H=[7, 8]),
        inputs=[normal(4, 3, "H", 8)],
    ),
)
