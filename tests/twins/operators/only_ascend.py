"""Functions of MindSpore without a kernel on a CPU.

A line has the name of an operator and a function. On a CPU stand-ins of `FUNCTIONS` are compared in
their place; those of `ALONE` have none, and are compared on an Ascend alone.
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

ALONE = """
    bincount mint.bincount
    cummin mint.cummin
    elu mint.nn.functional.elu_ ms_models.mint:elu_
    hardtanh mint.nn.functional.hardtanh_ ms_models.mint:hardtanh_
    histc mint.histc
    median mint.median
    nansum mint.nansum
    qr mint.linalg.qr
    select mint.select
    sigmoid mint.nn.functional.sigmoid_ ms_models.mint:sigmoid_
    threshold mint.nn.functional.threshold_ ms_models.mint:threshold_
    unbind mint.unbind
"""

ON_ASCEND = {
    name: to(api, through=through[0] if through else None)
    for name, api, *through in (line.split() for line in ALONE.strip().splitlines())
}
"""Name of an operator -> the counterpart that an Ascend alone has."""
