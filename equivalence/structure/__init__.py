"""What a network consists of, as data: nothing is run to compare it.

slots: the weights of a network without their values.
weights: pairs the weights of both sides by name.
rearranged: weights that are joined, transposed or reshaped on the other side.
complaints: what is wrong with a pairing, with the likely reasons.
pairing: pairs the weights of a case as its twin declares it.
order, renames: pair weights by order and shape; the short list of renames that says the same.
layers: pairs the layers of both sides, and compares their settings.
settings: what reads a layer's settings, and keeps what cannot be read.
write: what to write in MindSpore for a setting.
torch_settings, mindspore_settings: read the settings of a layer.
torch_steps, mindspore_steps: read the settings of training steps.
tables: tables that both sides keep as data, and that no pair of weights compares.
looked_up: the tables that a network's own code looks up in lists, attributes and globals.
"""
