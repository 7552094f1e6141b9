"""Functions of MindSpore without a kernel on a CPU, where stand-ins are compared in their place.

A line has the name of an operator and a function.
"""

from equivalence.declare.operator import to

DECLARES_NOTHING = True

FUNCTIONS = """
    clone mint.clone
    conv1d mint.nn.functional.conv1d
    conv2d mint.nn.functional.conv2d
    cumsum mint.cumsum
    gelu mint.nn.functional.gelu
    leaky_relu mint.nn.functional.leaky_relu
    log10 mint.log10
    log2 mint.log2
    std mint.std
    std_mean mint.std_mean
    var_mean mint.var_mean
"""

COUNTERPARTS = {
    name: to(api) for name, api in (line.split() for line in FUNCTIONS.strip().splitlines())
}
"""Name of an operator -> its counterpart."""
