"""Curves of whole trainings: losses and metrics by step, with a verdict.

command: `equivalence curve A B`.
compare: `curve`, and which side is read and which is run.
result: the verdict on each metric, and all texts.
series: a curve: values by step, and the digits that a log holds of them.
monitored: two monitored trainings, layer by layer.
read: curves from CSV, JSON lines, logs and TensorBoard's events.
running: curves of functions that train; of PyTorch's also with noise of one rounding.
torch_jitter: noise of one rounding in a training of PyTorch as it stands.
band: the band of the reference's own runs, and whether a curve stays inside; where logs part.
fits: what fits a difference: a shift, a factor, an offset, another order.
changed_runs: what fits, found by running the reference with a mistake.
picture: both curves and the band, as SVG.
"""
