"""The two frameworks behind the same verbs.

torch_network, mindspore_network: build a network, load weights, run it, and list its layers.
mindspore_training: MindSpore's training steps; PyTorch's are in `torch_network`.
weights: pairs the weights of both sides by name.
layers: pairs the layers of both sides.
torch_steps, mindspore_steps: read the settings of training steps.
torch_settings, mindspore_settings: read the configuration of a layer; `settings` compares two.
kinks: finds where a PyTorch run is not differentiable.
rehearsal: runs MindSpore on the CPU with the rounding of another device.
"""
