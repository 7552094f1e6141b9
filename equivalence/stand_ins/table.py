"""Which operators have no kernel on a CPU, and what stands for them there."""

from collections.abc import Callable

from mindspore import ops

from equivalence.stand_ins import (
    arithmetic,
    attention,
    in_place,
    layers,
    making,
    windows,
)

STAND_INS: dict[str, tuple[str, Callable]] = {
    "AcosExt": ("mint.acos", ops.acos),
    "AcoshExt": ("mint.acosh", ops.acosh),
    "AdaptiveAvgPool1D": ("mint.nn.functional.adaptive_avg_pool1d", windows.adaptive_avg_pool1d),
    "AdaptiveAvgPool2DExt": (
        "mint.nn.functional.adaptive_avg_pool2d",
        layers.adaptive_avg_pool2d,
    ),
    "AdaptiveAvgPool3DExt": ("mint.nn.functional.adaptive_avg_pool3d", windows.adaptive_avg_pool3d),
    "AdaptiveMaxPool1D": ("mint.nn.functional.adaptive_max_pool1d", windows.adaptive_max_pool1d),
    "AdamW": ("mint.optim.AdamW", in_place.adamw),
    "AddRmsNorm": ("ops.add_rms_norm", layers.add_rms_norm),
    "Addbmm": ("mint.addbmm", arithmetic.addbmm),
    "AddcdivExt": ("mint.addcdiv", arithmetic.addcdiv),
    "AddcmulExt": ("mint.addcmul", arithmetic.addcmul),
    "Addmm": ("mint.addmm", arithmetic.addmm),
    "Addmv": ("mint.addmv", arithmetic.addmm),
    "Arange": ("mint.arange", making.arange),
    "ArgMaxExt": ("mint.argmax", making.argmax),
    "ArgMinExt": ("mint.argmin", making.argmin),
    "ArgSort": ("mint.argsort", making.argsort),
    "AsinExt": ("mint.asin", ops.asin),
    "AsinhExt": ("mint.asinh", ops.asinh),
    "Atan2Ext": ("mint.atan2", ops.atan2),
    "AtanExt": ("mint.atan", ops.atan),
    "AvgPool1D": ("mint.nn.functional.avg_pool1d", windows.avg_pool1d),
    "AvgPool2D": ("mint.nn.functional.avg_pool2d", layers.avg_pool2d),
    "AvgPool3DExt": ("mint.nn.functional.avg_pool3d", windows.avg_pool3d),
    "Baddbmm": ("mint.baddbmm", arithmetic.baddbmm),
    "BatchNormExt": ("mint.nn.functional.batch_norm", layers.batch_norm),
    "BitwiseOrTensor": ("mint.bitwise_or", ops.bitwise_or),
    "BitwiseXorTensor": ("mint.bitwise_xor", ops.bitwise_xor),
    "Clone": ("mint.clone", making.clone),
    "Col2ImExt": ("mint.nn.functional.fold", windows.fold),
    "ConstantPadND": ("mint.nn.functional.pad", making.pad),
    "Conv1DExt": ("mint.nn.functional.conv1d", layers.conv1d),
    "Conv1DPadding": ("mint.nn.functional.conv1d", layers.conv1d),
    "Conv2DExt": ("mint.nn.functional.conv2d", layers.conv2d),
    "Conv2DPadding": ("mint.nn.functional.conv2d", layers.conv2d),
    "Conv3DExt": ("mint.nn.functional.conv3d", layers.conv3d),
    "Conv3DPadding": ("mint.nn.functional.conv3d", layers.conv3d),
    "ConvTranspose2D": ("mint.nn.functional.conv_transpose2d", layers.conv_transpose2d),
    "CosineEmbeddingLoss": (
        "mint.nn.functional.cosine_embedding_loss",
        layers.cosine_embedding_loss,
    ),
    "CountNonZero": ("mint.count_nonzero", making.count_nonzero),
    "CumsumExt": ("mint.cumsum", arithmetic.cumsum),
    "DiagExt": ("mint.diag", making.diag),
    "Dot": ("mint.dot", arithmetic.dot),
    "Dropout2dExt": ("mint.nn.functional.dropout2d", layers.dropout2d),
    "EluExt": ("mint.nn.functional.elu", layers.elu),
    "Embedding": ("mint.nn.functional.embedding", making.embedding),
    "Exp2": ("mint.exp2", arithmetic.exp2),
    "Expm1": ("mint.expm1", arithmetic.expm1),
    "FillScalar": ("mint.full", making.full),
    "FlashAttentionScore": ("ops.flash_attention_score", attention.flash_attention),
    "Frac": ("mint.frac", arithmetic.frac),
    "FullLike": ("mint.full_like", making.full_like),
    "FuncDropoutExt": ("mint.nn.functional.dropout", layers.dropout),
    "FuncMaxPool2D": ("mint.nn.functional.max_pool2d", layers.max_pool2d),
    "Hardtanh": ("mint.nn.functional.hardtanh", layers.hardtanh),
    "Im2ColExt": ("mint.nn.functional.unfold", windows.unfold),
    "InplaceReLU": ("mint.nn.functional.relu_", in_place.relu),
    "IndexSelect": ("mint.index_select", making.index_select),
    "KLDiv": ("mint.nn.functional.kl_div", layers.kl_div),
    "L1LossExt": ("mint.nn.functional.l1_loss", layers.l1_loss),
    "LayerNormExt": ("mint.nn.functional.layer_norm", layers.layer_norm),
    "LeakyReLUExt": ("mint.nn.functional.leaky_relu", layers.leaky_relu),
    "LinSpaceExt": ("mint.linspace", making.linspace),
    "LinalgVectorNorm": ("mint.linalg.vector_norm", arithmetic.vector_norm),
    "Log": ("mint.log", arithmetic.log),
    "Log10": ("mint.log10", arithmetic.log10),
    "Log2": ("mint.log2", arithmetic.log2),
    "LogAddExp": ("mint.logaddexp", arithmetic.log_add_exp),
    "LogAddExp2": ("mint.logaddexp2", arithmetic.log_add_exp2),
    "LogSigmoid": ("mint.nn.functional.logsigmoid", layers.log_sigmoid),
    "LogSoftmaxExt": ("mint.nn.functional.log_softmax", arithmetic.log_softmax),
    "LogSumExp": ("mint.logsumexp", arithmetic.log_sum_exp),
    "MSELossExt": ("mint.nn.functional.mse_loss", layers.mse_loss),
    "MaskedFill": ("ops.masked_fill", making.masked_fill),
    "MatrixInverseExt": ("mint.inverse", ops.inverse),
    "MaxUnpool2DExt": ("mint.nn.functional.max_unpool2d", windows.max_unpool2d),
    "MishExt": ("mint.nn.functional.mish", layers.mish),
    "Mm": ("mint.mm", arithmetic.matmul),
    "Mv": ("mint.mv", arithmetic.matmul),
    "NLLLoss2d": ("mint.nn.functional.nll_loss", layers.nll_loss2d),
    "NonZeroExt": ("mint.nonzero", making.nonzero),
    "NormalFloatFloat": ("mint.normal", making.normal),
    "NormalFloatTensor": ("mint.normal", making.normal_around),
    "NormalTensorFloat": ("mint.normal", making.normal_around),
    "NormalTensorTensor": ("mint.normal", making.normal_around),
    "OneHotExt": ("mint.nn.functional.one_hot", making.one_hot),
    "OnesLikeExt": ("mint.ones_like", making.ones_like),
    "Outer": ("mint.outer", arithmetic.outer),
    "RandExt": ("mint.rand", making.rand),
    "RandLikeExt": ("mint.rand_like", making.rand_like),
    "Randn": ("mint.randn", making.randn),
    "RandnLike": ("mint.randn_like", making.randn_like),
    "ReflectionPad1D": ("mint.nn.functional.pad", windows.reflection_pad),
    "ReflectionPad2D": ("mint.nn.functional.pad", windows.reflection_pad),
    "ReflectionPad3D": ("mint.nn.functional.pad", windows.reflection_pad),
    "RepeatInterleaveInt": ("mint.repeat_interleave", making.repeat_interleave),
    "ReplicationPad1D": ("mint.nn.functional.pad", windows.replication_pad),
    "ReplicationPad2D": ("mint.nn.functional.pad", windows.replication_pad),
    "ReplicationPad3D": ("mint.nn.functional.pad", windows.replication_pad),
    "RmsNorm": ("ops.rms_norm", layers.rms_norm),
    "Roll": ("mint.roll", making.roll),
    "RotaryPositionEmbedding": ("ops.rotary_position_embedding", attention.rotary),
    "ScatterAddExt": ("mint.scatter_add", making.scatter_add),
    "SeLUExt": ("mint.nn.functional.selu", layers.selu),
    "SoftMarginLoss": ("mint.nn.functional.soft_margin_loss", layers.soft_margin_loss),
    "SoftplusExt": ("mint.nn.functional.softplus", layers.softplus),
    "SortExt": ("mint.sort", making.sort),
    "StackExt": ("mint.stack", making.stack),
    "Std": ("mint.std", arithmetic.deviation),
    "StdMean": ("mint.std_mean", arithmetic.deviation_mean),
    "Swiglu": ("ops.swiglu", arithmetic.swiglu),
    "Take": ("mint.take", making.take),
    "Threshold": ("mint.nn.functional.threshold", layers.threshold),
    "TopkExt": ("mint.topk", making.topk),
    "TraceExt": ("mint.trace", arithmetic.trace),
    "TrilExt": ("mint.tril", making.tril),
    "Unique2": ("mint.unique", making.unique),
    "UnstackExtView": ("mint.unbind", making.unbind),
    "UpsampleBicubic2D": ("mint.nn.functional.interpolate", making.bicubic),
    "UpsampleBilinear2D": ("mint.nn.functional.interpolate", making.bilinear),
    "Var": ("mint.var", arithmetic.variance),
    "VarMean": ("mint.var_mean", arithmetic.variance_mean),
    "ZerosLikeExt": ("mint.zeros_like", making.zeros_like),
}
"""Primitive -> the function that calls it, below `mindspore`, and its stand-in. A stand-in takes
what the primitive takes, in that order."""

OVERLOADS: dict[str, tuple[str, Callable]] = {
    "_addcdiv_instance": ("mint.addcdiv", arithmetic.addcdiv),
    "_conv1d_instance": ("mint.nn.functional.conv1d", layers.conv1d),
    "_conv2d_instance": ("mint.nn.functional.conv2d", layers.conv2d),
    "_conv3d_instance": ("mint.nn.functional.conv3d", layers.conv3d),
    "_div_instance": ("mint.div", arithmetic.divide),
    "_einsum_instance": ("mint.einsum", arithmetic.einsum),
    "_gelu_instance": ("mint.nn.functional.gelu", arithmetic.gelu),
    "_repeat_interleave_instance": ("mint.repeat_interleave", making.repeat_interleave),
    "_where_instance": ("mint.where", making.nonzero),
}
"""An object of `mindspore.ops.functional_overload` that calls one of several operators -> as above.
A stand-in takes what the function takes."""

PARTLY: dict[str, Callable] = {
    "Expm1": arithmetic.is_bfloat16,
    "Log": arithmetic.is_bfloat16,
    "MaskedFill": making.fills_by_whole_number,
    "NonZeroExt": making.always,
    "_div_instance": arithmetic.rounds_a_quotient,
    "_where_instance": making.finds_places,
    "div": arithmetic.rounds_a_quotient,
    "scatter": making.scatters_whole_number,
}
"""What stands in a table here, and its function has a kernel for some calls on a CPU -> which calls
have none, by the dtype of the first input and all others; a tensor is None to the compiler. The
other calls run as they are."""

FALLBACKS: dict[str, str] = {
    "BatchNormExt": "mint_batch_norm_ends_graph",
    "ConstantPadND": "pad_gradient_in_graph_called_again",
    "LogSoftmaxExt": "log_softmax_accuracy",
    "ReflectionPad1D": "mint_padding_ends_graph",
    "ReflectionPad2D": "mint_padding_ends_graph",
    "ReflectionPad3D": "mint_padding_ends_graph",
    "ReplicationPad1D": "mint_padding_ends_graph",
    "ReplicationPad2D": "mint_padding_ends_graph",
    "ReplicationPad3D": "mint_padding_ends_graph",
}
"""Primitive without a kernel, of which the compiler of a CPU does not say so: it comes to another
kernel that is wrong, or ends the process -> the finding. Compiled, it has its stand-in at once."""

LATE: dict[str, str] = {"LayerNormExt": "mint_layer_norm"}
"""Primitive without a kernel, of which PyNative mode may say so too late: the graph of its gradient
is ended before, with a result that is not there, which ends the process -> the finding. Called, it
has its stand-in at once."""

COMPILED = (arithmetic.divide, arithmetic.einsum)
"""Stand-ins that graph mode does not need: the compiler has their functions on a CPU, too."""

METHODS: dict[str, Callable] = {
    "add_": in_place.add,
    "clamp_": in_place.clamp,
    "clone": making.clone,
    "div": arithmetic.divide,
    "erfinv_": in_place.erfinv,
    "fill_": in_place.fill,
    "fill_diagonal_": in_place.fill_diagonal,
    "floor_": in_place.floor,
    "index_add_": in_place.index_add,
    "index_copy_": in_place.index_copy,
    "log_": in_place.log,
    "masked_fill_": in_place.masked_fill,
    "mul_": in_place.mul,
    "new_full": making.new_full,
    "normal_": in_place.normal,
    "repeat": making.repeat,
    "scatter": making.scatter_value,
    "scatter_": in_place.scatter,
    "scatter_add_": in_place.scatter_add,
    "uniform_": in_place.uniform,
    "zero_": in_place.zero,
}
"""Method of `Tensor` -> its stand-in, in PyNative mode alone."""

CALLERS: dict[str, str] = {
    "mint.arccos": "mint.acos",
    "mint.arccosh": "mint.acosh",
    "mint.arcsin": "mint.asin",
    "mint.arcsinh": "mint.asinh",
    "mint.arctan": "mint.atan",
    "mint.arctan2": "mint.atan2",
    "mint.linalg.inv": "mint.inverse",
    "mint.linalg.matrix_norm": "mint.linalg.vector_norm",
    "mint.linalg.norm": "mint.linalg.vector_norm",
    "mint.nn.functional.cross_entropy": "mint.nn.functional.log_softmax",
    "mint.nn.functional.normalize": "mint.linalg.vector_norm",
    "mint.nn.functional.relu6": "mint.nn.functional.hardtanh",
    "mint.norm": "mint.linalg.vector_norm",
    "mint.special.exp2": "mint.exp2",
    "mint.special.log_softmax": "mint.nn.functional.log_softmax",
}
"""Function of MindSpore -> one that it always calls, for which another stands on a CPU."""

SHOW_TOO: dict[str, tuple[str, ...]] = {
    "mint.linalg.norm": ("norm_gradient_at_zero",),
    "mint.nn.functional.max_pool2d": ("max_pool_nan",),
    "mint.nn.functional.normalize": ("norm_gradient_at_zero",),
    "mint.nn.functional.relu_": ("relu_nan",),
    "mint.sort": ("sort_nan",),
    "mint.std": ("std_gradient_of_constant",),
    "mint.topk": ("sort_nan",),
}
"""Function -> the findings about another function that its stand-in shows, too. What the kernel
does there, a CPU does not tell."""


def functions() -> frozenset[str]:
    """The functions of MindSpore, below `mindspore`, that a CPU runs through stand-ins alone."""
    told = STAND_INS | OVERLOADS
    return frozenset(api for name, (api, _) in told.items() if name not in PARTLY) | {*CALLERS}
