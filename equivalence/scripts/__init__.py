"""Trainings as they stand: both scripts run up to a step, and are compared stage by stage.

command: `equivalence train TORCH MINDSPORE`, and `train`, the same from Python.
compare: `trainings`, which runs both sides, and pairs their networks.
running: runs a script or a function, and ends it after its last step.
steps: what a run gives, step by step.
recording: takes what a run shows, and hands it what the reference had.
torch_side, mindspore_side: what each framework shows of a training.
places: lines of a script, and the names that it has.
judging: the verdict on each stage of each step.
layers: the first layer that departs in a step.
looks: runs a side once more, to see where it departs and in which precision.
overflow: the first operator that gives NaN or an infinity.
single: which layers to keep in float32, found by trying.
samples: those of a batch that is cut over ranks, or has another order.
known: what is known of optimisers that update otherwise.
text: all that is said of a result.
"""
