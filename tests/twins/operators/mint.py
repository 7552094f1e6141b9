"""Functions of `mindspore.mint` beside operators that other modules declare, and some of its own.

A line has the name of an operator and its functions. A CPU runs each through its kernel, or through
a stand-in where it has none; `only_ascend.py` has those with neither.
"""

from hypothesis import strategies as st

from equivalence.declare.difference import Limit
from equivalence.declare.draws import normal, ties
from equivalence.declare.operator import LIMITS, Counterpart, Operator, to
from equivalence.declare.spaces import REAL, axis, reduction
from tests.twins.operators.elementwise import TO_NOTHING
from tests.twins.operators.spaces_functional import pointwise_loss
from tests.twins.operators.spaces_shapes import shaped

FUNCTIONS = """
    acos mint.acos mint.arccos
    acosh mint.acosh mint.arccosh
    adaptive_avg_pool1d mint.nn.functional.adaptive_avg_pool1d
    adaptive_avg_pool2d mint.nn.functional.adaptive_avg_pool2d
    adaptive_avg_pool3d mint.nn.functional.adaptive_avg_pool3d
    adaptive_max_pool1d mint.nn.functional.adaptive_max_pool1d
    addbmm mint.addbmm
    addcdiv mint.addcdiv
    addmm mint.addmm
    addmv mint.addmv
    arange mint.arange
    argmax mint.argmax
    argmin mint.argmin
    argsort mint.argsort
    asin mint.asin mint.arcsin
    asinh mint.asinh mint.arcsinh
    atan mint.atan mint.arctan
    atan2 mint.atan2 mint.arctan2
    atanh mint.arctanh
    avg_pool1d mint.nn.functional.avg_pool1d
    avg_pool2d mint.nn.functional.avg_pool2d
    avg_pool3d mint.nn.functional.avg_pool3d
    baddbmm mint.baddbmm
    batch_norm mint.nn.functional.batch_norm
    batch_norm_training mint.nn.functional.batch_norm
    bitwise_or mint.bitwise_or
    bitwise_xor mint.bitwise_xor
    conv3d mint.nn.functional.conv3d
    conv_transpose2d mint.nn.functional.conv_transpose2d
    cosine_embedding_loss mint.nn.functional.cosine_embedding_loss
    count_nonzero mint.count_nonzero
    cross_entropy mint.nn.functional.cross_entropy
    diag mint.diag
    diff mint.diff
    div mint.divide
    dot mint.dot
    dropout2d mint.nn.functional.dropout2d
    einsum mint.einsum
    elu mint.nn.functional.elu
    embedding mint.nn.functional.embedding
    exp2 mint.exp2 mint.special.exp2
    flatten mint.nn.functional.flatten
    fold mint.nn.functional.fold
    frac mint.frac
    full mint.full
    full_like mint.full_like
    ge mint.greater_equal
    gt mint.greater
    hardtanh mint.nn.functional.hardtanh
    index_select mint.index_select
    inv mint.inverse mint.linalg.inv
    kl_div mint.nn.functional.kl_div
    layer_norm mint.nn.functional.layer_norm
    le mint.less_equal
    linspace mint.linspace
    log_softmax mint.nn.functional.log_softmax mint.special.log_softmax
    logaddexp mint.logaddexp
    logaddexp2 mint.logaddexp2
    logsigmoid mint.nn.functional.logsigmoid
    logsumexp mint.logsumexp
    lt mint.less
    matrix_norm mint.linalg.matrix_norm
    max_pool2d mint.nn.functional.max_pool2d
    max_unpool2d mint.nn.functional.max_unpool2d
    mm mint.mm
    mse_loss mint.nn.functional.mse_loss
    mv mint.mv
    ne mint.not_equal
    neg mint.negative
    norm mint.linalg.norm
    normalize mint.nn.functional.normalize
    one_hot mint.nn.functional.one_hot
    ones_like mint.ones_like
    outer mint.outer
    relu mint.nn.functional.relu_
    relu6 mint.nn.functional.relu6
    repeat_interleave mint.repeat_interleave
    round mint.special.round
    scatter_add mint.scatter_add
    softmax mint.softmax
    softplus mint.nn.functional.softplus
    sort mint.sort
    stack mint.stack
    take mint.take
    threshold mint.nn.functional.threshold
    topk mint.topk
    trace mint.trace
    tril mint.tril
    unfold mint.nn.functional.unfold
    var mint.var
    vector_norm mint.linalg.vector_norm
    zeros_like mint.zeros_like
"""

OF_MS = "ms_models.mint:"
THROUGH = {
    f"mint.{path}": OF_MS + path.rpartition(".")[2]
    for path in (
        "arange",
        "einsum",
        "full",
        "index_select",
        "linspace",
        "nn.functional.layer_norm",
        "nn.functional.relu_",
        "scatter_add",
    )
}
"""Functions that take an argument between their inputs, or a dtype."""

LIMITS["batch_mean"] = lambda example: example.arguments["reduction"] == "batchmean"

EMPTY = {"empty": "a kernel on the CPU refuses what is empty, or fills in nothing"}
NAN = {"nan": "the CPU takes no notice of NaN"}
LIMITED = {
    "mint.addcdiv": TO_NOTHING,
    "mint.addmm": EMPTY,
    "mint.addmv": EMPTY,
    "mint.arctan2": TO_NOTHING,
    "mint.argmax": NAN,
    "mint.argmin": NAN,
    "mint.atan2": TO_NOTHING,
    "mint.baddbmm": EMPTY,
    "mint.count_nonzero": {"empty": "unwritten: the sum of nothing is any number"},
    "mint.diag": {**EMPTY, "booleans": "are refused"},
    "mint.diff": EMPTY,
    "mint.divide": {"half_truncated": Limit("trunc refuses it", "<2.9"), **TO_NOTHING},
    "mint.index_select": EMPTY,
    "mint.inverse": {"one_by_one": "a matrix of one element is refused"},
    "mint.linalg.inv": {"one_by_one": "a matrix of one element is refused"},
    "mint.linalg.matrix_norm": EMPTY,
    "mint.linalg.norm": EMPTY,
    "mint.logaddexp": {**EMPTY, **NAN, "infinite": "gives NaN"},
    "mint.logaddexp2": {**EMPTY, **NAN, "infinite": "gives NaN"},
    "mint.logsumexp": {"infinite": "gives NaN", "masked": "gives NaN"},
    "mint.mv": {"empty": "unwritten: the product with nothing is any number"},
    "mint.nn.functional.adaptive_avg_pool1d": EMPTY,
    "mint.nn.functional.adaptive_avg_pool2d": EMPTY,
    "mint.nn.functional.adaptive_avg_pool3d": EMPTY,
    "mint.nn.functional.adaptive_max_pool1d": EMPTY,
    "mint.nn.functional.cross_entropy": {"ignored_label": "its loss is unwritten"},
    "mint.nn.functional.elu": {
        "coarse": "the kernel of the CPU rounds coarsely",
        "float16": "the kernel of the CPU rounds coarsely",
    },
    "mint.nn.functional.embedding": EMPTY,
    "mint.nn.functional.fold": EMPTY,
    "mint.nn.functional.hardtanh": {"nan": "the gradient at NaN is zero"},
    "mint.nn.functional.kl_div": {"batch_mean": Limit("no kernel", "<2.9")},
    "mint.nn.functional.one_hot": EMPTY,
    "mint.nn.functional.relu6": {"nan": "the gradient at NaN is zero"},
    "mint.nn.functional.relu_": NAN,
    "mint.nn.functional.softplus": {"coarser": "the kernels of the CPU round coarsely"},
    "mint.nn.functional.unfold": EMPTY,
    "mint.softmax": {**NAN, "infinite": "gives zeros", "masked": "gives zeros"},
    "mint.sort": EMPTY,
    "mint.trace": EMPTY,
}
"""What a call cannot do on a CPU."""
LIMITED_FOR = {
    ("batch_norm_training", "mint.nn.functional.batch_norm"): {
        "float16": "running statistics of float32 are refused"
    },
}
RELEASES = {"mint.nn.functional.cosine_embedding_loss": ">=2.8"}


def _counterpart(operator: str, api: str) -> Counterpart:
    without = LIMITED_FOR.get((operator, api), LIMITED.get(api, {}))
    return to(api, through=THROUGH.get(api), without=without, releases=RELEASES.get(api))


COUNTERPARTS = {
    operator: tuple(_counterpart(operator, api) for api in apis)
    for operator, *apis in (line.split() for line in FUNCTIONS.strip().splitlines())
}
"""Name of an operator -> its counterparts."""


def _rolled(draw, sizes):
    return {"shifts": draw(st.integers(-4, 4)), "dims": axis(draw, len(sizes))}


def _signed(draw, without):
    """A loss whose target PyTorch gives no gradient."""
    space = pointwise_loss(normal, target=ties, reduction=["none", "mean", "sum"])
    return space(draw, without | {"learned_target"})


F = "torch.nn.functional."
OPERATORS = (
    Operator(
        "torch.roll",
        shaped(_rolled, *REAL, low=1),
        to("mint.roll", without={**EMPTY, "graph": "is refused on a CPU, without its stand-in"}),
    ),
    Operator(
        "torch.norm",
        reduction(normal, several=False, p=[1, 2, 3]),
        to("mint.norm", without=EMPTY),
        name="norm_by_p",
    ),
    Operator(
        F + "soft_margin_loss",
        _signed,
        to(
            "mint.nn.functional.soft_margin_loss",
            without={"graph": "the compiler finds neither a kernel nor the stand-in on a CPU"},
        ),
    ),
)
