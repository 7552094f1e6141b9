"""Data parallel training on several ranks of this host, against the truth of one process.

`compare` makes the truth and judges all ranks. `launch` starts the ranks under a launcher, watches
them and leaves no process behind. Each rank runs `rank`, with `rank_torch` or `rank_mindspore`.
`diagnose` finds the causes. `alone` makes a script that no launcher has started the only rank, and
`torch_meeting` lets ranks of PyTorch run a script as it stands.
"""
