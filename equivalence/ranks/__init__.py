"""Trainings on several ranks: both scripts under the frameworks' launchers, rank by rank.

compare: `on_ranks`, which runs both sides, and judges each rank.
process: starts the ranks of a script, and is what each of their processes does.
parts: a rank that has parts of the weights of one process.
whole: ranks that have parts of the batches of one process.
hints: what explains how a rank departs.
launch_lines: what people type to launch a training.
result: what became of it, and all that is said.
"""
