"""The two frameworks behind the same verbs.

protocols: what a side is: all that others ask of a reference, and of a candidate.
feed: what a run of a candidate is fed with.
torch_network, mindspore_network: build a network, load weights, run it, and list its layers.
mindspore_cells: builds cells, and frees what MindSpore keeps of them; arrays to tensors and back.
modes: the mode of every layer, as its own network sets it.
torch_constants: the buffers that keep what a constructor made; the rounding of constants.
torch_modes: the precision and the rounding of a PyTorch run.
mindspore_pullback: differentiates a MindSpore network, and what its cells give in a run.
torch_training, mindspore_training: the same of training steps.
torch_candidate: a network of PyTorch as a candidate, beside another one of PyTorch.
accurate: runs MindSpore with kernels that give what float64 gives.
torch_noise: a run in which every number is rounded once at random; torch_sums: the terms of sums.
rehearsal: runs MindSpore on the CPU with the rounding of another device.
"""
