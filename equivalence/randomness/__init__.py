"""What draws random numbers in a network, and how it is pinned, or replayed, in a comparison.

layers: the random layers of a run as data, and the comparison of both sides' layers.
torch_draws: finds and pins the draws of PyTorch.
mindspore_draws: finds and pins the draws of MindSpore.
replay: the numbers that the draws of both sides get, and the pairings of draws.
torch_replay: gives PyTorch's draws their numbers.
mindspore_replay: gives MindSpore's draws theirs.
host_replay: gives those of NumPy and Python theirs.
host_draws: tells what a script draws by NumPy and Python, for which another number may stand.
"""
