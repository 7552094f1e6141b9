"""Mistakes in networks whose kernels are inaccurate on a CPU: no accurate kernel excuses them."""

from tests.defects.makers import built_with, candidate
from tests.defects.victim import victim

HERE = "tests.defects.recurrent_candidates:"

RNN = victim("rnn")
GRU = victim("gru")
TIMES = victim("timestep_embedding")

# fmt: off
DEFECTS = (
    built_with("relu_rnn", RNN, "the other nonlinearity of the layer", nonlinearity="relu"),
    candidate("scaled_tanh_rnn", RNN, HERE + "TanhOfScaled",
        "1.0001 tanh: an error of the size of the kernel's"),
    candidate("gru_gates_swapped", GRU, HERE + "GatesSwapped",
        "the weights of Keras: first the update gate, then the reset gate"),
    candidate("gru_reset_before", GRU, HERE + "ResetBefore",
        "the reset gate on the hidden state, before the product: Keras's reset_after=False"),
    candidate("gru_update_inverted", GRU, HERE + "UpdateInverted",
        "z for 1 - z, as in the paper of 2014"),
    candidate("gru_bias_not_reset", GRU, HERE + "BiasNotReset",
        "one bias of the new gate, which the reset gate does not reach"),
    candidate("gru_hard_sigmoid", GRU, HERE + "HardSigmoid", "the gates of old Keras"),
    candidate("timesteps_sine_first", TIMES, HERE + "SineFirst", "the sines before the cosines"),
    candidate("timesteps_to_the_last_frequency", TIMES, HERE + "LastFrequency",
        "divided by half - 1, so that the last frequency is 1/10000"),
    candidate("timesteps_of_another_base", TIMES.compiled, HERE + "OtherBase",
        "10010 for 10000, in graph mode"),
)
# fmt: on
