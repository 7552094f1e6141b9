"""What a network consists of, as data: nothing is run to compare it.

weights: pairs the weights of both sides by name.
layers: pairs the layers of both sides.
settings: compares the settings of two layers.
torch_settings, mindspore_settings: read the settings of a layer.
torch_steps, mindspore_steps: read the settings of training steps.
"""
