"""What draws random numbers in a network, and how it is pinned, or replayed, in a comparison.

layers: the random layers of a run as data, and the comparison of both sides' layers.
torch_draws: finds and pins the draws of PyTorch.
mindspore_draws: finds and pins the draws of MindSpore.
replay: the numbers that the draws of both sides get, and the pairings of draws.
torch_replay: gives PyTorch's draws their numbers.
mindspore_replay: gives MindSpore's draws theirs.
host_draws: notes what code draws by NumPy and Python, or gives it the numbers of a replay.
"""
