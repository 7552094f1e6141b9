"""Which operators have no kernel on a CPU, and what stands for them there."""

from collections.abc import Callable

from equivalence.stand_ins import arithmetic, attention, in_place, layers, making, maps

STAND_INS: dict[str, tuple[str, Callable]] = {
    "AdaptiveAvgPool1D": ("mint.nn.functional.adaptive_avg_pool1d", maps.adaptive_avg_pool1d),
    "AdaptiveAvgPool2DExt": (
        "mint.nn.functional.adaptive_avg_pool2d",
        layers.adaptive_avg_pool2d,
    ),
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
    "AvgPool1D": ("mint.nn.functional.avg_pool1d", maps.avg_pool1d),
    "AvgPool2D": ("mint.nn.functional.avg_pool2d", layers.avg_pool2d),
    "Baddbmm": ("mint.baddbmm", arithmetic.addmm),
    "BatchNormExt": ("mint.nn.functional.batch_norm", layers.batch_norm),
    "Clone": ("mint.clone", making.clone),
    "ConstantPadND": ("mint.nn.functional.pad", making.pad),
    "Conv2DExt": ("mint.nn.functional.conv2d", layers.conv2d),
    "ConvTranspose2D": ("mint.nn.functional.conv_transpose2d", maps.conv_transpose2d),
    "CumsumExt": ("mint.cumsum", arithmetic.cumsum),
    "Dot": ("mint.dot", arithmetic.dot),
    "EluExt": ("mint.nn.functional.elu", layers.elu),
    "Embedding": ("mint.nn.functional.embedding", making.embedding),
    "Exp2": ("mint.exp2", arithmetic.exp2),
    "FillScalar": ("mint.full", making.full),
    "FlashAttentionScore": ("ops.flash_attention_score", attention.flash_attention),
    "FullLike": ("mint.full_like", making.full_like),
    "FuncDropoutExt": ("mint.nn.functional.dropout", layers.dropout),
    "FuncMaxPool2D": ("mint.nn.functional.max_pool2d", layers.max_pool2d),
    "Hardtanh": ("mint.nn.functional.hardtanh", layers.hardtanh),
    "Im2ColExt": ("mint.nn.functional.unfold", maps.unfold),
    "IndexSelect": ("mint.index_select", making.index_select),
    "L1LossExt": ("mint.nn.functional.l1_loss", layers.l1_loss),
    "LayerNormExt": ("mint.nn.functional.layer_norm", layers.layer_norm),
    "LeakyReLUExt": ("mint.nn.functional.leaky_relu", layers.leaky_relu),
    "LinSpaceExt": ("mint.linspace", making.linspace),
    "LinalgVectorNorm": ("mint.linalg.vector_norm", arithmetic.vector_norm),
    "Log10": ("mint.log10", arithmetic.log10),
    "Log2": ("mint.log2", arithmetic.log2),
    "LogAddExp": ("mint.logaddexp", arithmetic.log_add_exp),
    "LogSoftmaxExt": ("mint.nn.functional.log_softmax", arithmetic.log_softmax),
    "LogSumExp": ("mint.logsumexp", arithmetic.log_sum_exp),
    "MSELossExt": ("mint.nn.functional.mse_loss", layers.mse_loss),
    "Mm": ("mint.mm", arithmetic.matmul),
    "Mv": ("mint.mv", arithmetic.matmul),
    "OneHotExt": ("mint.nn.functional.one_hot", making.one_hot),
    "OnesLikeExt": ("mint.ones_like", making.ones_like),
    "Outer": ("mint.outer", arithmetic.outer),
    "RandExt": ("mint.rand", making.rand),
    "RandLikeExt": ("mint.rand_like", making.rand_like),
    "Randn": ("mint.randn", making.randn),
    "RandnLike": ("mint.randn_like", making.randn_like),
    "RepeatInterleaveInt": ("mint.repeat_interleave", making.repeat_interleave),
    "RmsNorm": ("ops.rms_norm", layers.rms_norm),
    "Roll": ("mint.roll", making.roll),
    "RotaryPositionEmbedding": ("ops.rotary_position_embedding", attention.rotary),
    "ScatterAddExt": ("mint.scatter_add", making.scatter_add),
    "SortExt": ("mint.sort", making.sort),
    "StackExt": ("mint.stack", making.stack),
    "Std": ("mint.std", arithmetic.deviation),
    "StdMean": ("mint.std_mean", arithmetic.deviation_mean),
    "Swiglu": ("ops.swiglu", arithmetic.swiglu),
    "TopkExt": ("mint.topk", making.topk),
    "TrilExt": ("mint.tril", making.tril),
    "UpsampleBicubic2D": ("mint.nn.functional.interpolate", maps.bicubic),
    "UpsampleBilinear2D": ("mint.nn.functional.interpolate", maps.bilinear),
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
    "_einsum_instance": ("mint.einsum", arithmetic.einsum),
    "_gelu_instance": ("mint.nn.functional.gelu", arithmetic.gelu),
    "_repeat_interleave_instance": ("mint.repeat_interleave", making.repeat_interleave),
}
"""An object of `mindspore.ops.functional_overload` that calls one of several operators -> as above.
A stand-in takes what the function takes."""

COMPILED = (arithmetic.einsum,)
"""Stand-ins that graph mode does not need: the compiler has their functions on a CPU, too."""

METHODS: dict[str, Callable] = {
    "clamp_": in_place.clamp,
    "clone": making.clone,
    "erfinv_": in_place.erfinv,
    "fill_": in_place.fill,
    "floor_": in_place.floor,
    "index_add_": in_place.index_add,
    "index_copy_": in_place.index_copy,
    "log_": in_place.log,
    "masked_fill_": in_place.masked_fill,
    "new_full": making.new_full,
    "normal_": in_place.normal,
    "repeat": making.repeat,
    "scatter_": in_place.scatter,
    "scatter_add_": in_place.scatter_add,
    "uniform_": in_place.uniform,
    "zero_": in_place.zero,
}
"""Method of `Tensor` -> its stand-in, in PyNative mode alone."""
