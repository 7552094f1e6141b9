"""Which counterparts cannot compute in float64: these have the limit `float64`.

A line has the name of an operator, and calls of MindSpore that are meant.
"""

DECLARES_NOTHING = True

REFUSED = """
    adaptive_avg_pool1d nn.AdaptiveAvgPool1d ops.adaptive_avg_pool1d
    adaptive_max_pool1d nn.AdaptiveMaxPool1d ops.adaptive_max_pool1d
    affine_grid ops.affine_grid
    affine_grid3d ops.affine_grid
    avg_pool1d nn.AvgPool1d ops.avg_pool1d
    avg_pool2d nn.AvgPool2d ops.avg_pool2d
    avg_pool3d nn.AvgPool3d ops.avg_pool3d
    batch_norm ops.batch_norm
    batch_norm_training ops.batch_norm
    binary_cross_entropy mint.nn.functional.binary_cross_entropy nn.BCELoss ops.binary_cross_entropy
    binary_cross_entropy_with_logits mint.nn.functional.binary_cross_entropy_with_logits
    binary_cross_entropy_with_logits nn.BCEWithLogitsLoss
    binary_cross_entropy_with_logits ops.binary_cross_entropy_with_logits
    conv1d mint.nn.functional.conv1d ops.conv1d
    conv2d mint.nn.functional.conv2d ops.conv2d
    conv3d ops.conv3d
    conv_transpose1d ops.Conv2DTranspose
    conv_transpose2d ops.Conv2DTranspose
    conv_transpose3d ops.conv3d_transpose
    cosine_similarity ops.cosine_similarity
    cross_entropy nn.CrossEntropyLoss
    cross_entropy_of_probabilities nn.CrossEntropyLoss ops.cross_entropy
    hardshrink mint.nn.functional.hardshrink nn.HShrink ops.hardshrink
    lerp mint.lerp ops.lerp
    lerp_by_number mint.lerp ops.lerp
    local_response_norm ops.lrn
    lp_pool1d nn.LPPool1d ops.lp_pool1d
    lp_pool2d nn.LPPool2d ops.lp_pool2d
    nan_to_num mint.nan_to_num ops.nan_to_num
    norm ops.norm
    prelu mint.nn.functional.prelu ops.prelu
    relu6 nn.ReLU6 ops.relu6
    renorm ops.renorm
    softshrink mint.nn.functional.softshrink nn.SoftShrink ops.softshrink
"""
ROUNDED = """
    addcdiv ops.addcdiv
    addcmul ops.addcmul
    arange ops.arange
    attention ops.softmax
    cdist mint.cdist ops.cdist
    celu nn.CELU ops.celu
    cholesky_inverse ops.cholesky_inverse
    cholesky_solve ops.cholesky_solve
    cosine_embedding_loss nn.CosineEmbeddingLoss ops.cosine_embedding_loss
    cross_entropy mint.nn.functional.cross_entropy ops.cross_entropy
    ctc_loss nn.CTCLoss ops.ctc_loss
    deg2rad ops.deg2rad
    digamma ops.digamma
    eigvalsh scipy.linalg.eigh
    fmax ops.fmax
    gaussian_nll_loss nn.GaussianNLLLoss ops.gaussian_nll_loss
    gelu mint.nn.functional.gelu nn.GELU ops.gelu
    ger ops.ger
    grid_sample mint.nn.functional.grid_sample ops.grid_sample
    group_norm mint.nn.functional.group_norm ops.group_norm
    hardsigmoid mint.nn.functional.hardsigmoid nn.HSigmoid ops.hardsigmoid
    huber_loss nn.HuberLoss ops.huber_loss
    hypot ops.hypot
    instance_norm ops.group_norm
    interpolate_bilinear nn.Upsample ops.interpolate
    interpolate_trilinear ops.interpolate
    l1_loss nn.L1Loss ops.l1_loss
    layer_norm ops.LayerNorm
    leaky_relu mint.nn.functional.leaky_relu nn.LeakyReLU ops.leaky_relu
    lgamma ops.lgamma
    linspace ops.linspace
    log10 mint.log10
    log2 mint.log2
    log_softmax nn.LogSoftmax ops.log_softmax
    logit ops.logit
    margin_ranking_loss nn.MarginRankingLoss ops.margin_ranking_loss
    masked_fill ops.masked_fill
    matrix_power ops.matrix_power
    max_pool3d nn.MaxPool3d
    mse_loss nn.MSELoss ops.mse_loss
    multilabel_soft_margin_loss nn.MultiLabelSoftMarginLoss ops.multilabel_soft_margin_loss
    nll_loss mint.nn.functional.nll_loss
    normalize ops.norm
    pairwise_distance ops.norm
    pdist ops.pdist
    pinv ops.pinv
    poisson_nll_loss nn.PoissonNLLLoss
    rad2deg ops.rad2deg
    selu nn.SeLU ops.selu
    softplus ops.softplus
    sort ops.sort
    std mint.std ops.std
    std_mean mint.std_mean ops.std_mean
    triplet_margin_with_distance_loss nn.TripletMarginWithDistanceLoss
    var ops.var
    var_mean mint.var_mean ops.var_mean
    vector_norm ops.vector_norm
    weighted_cross_entropy ops.cross_entropy
    weighted_nll_loss mint.nn.functional.nll_loss
"""
NARROW = """
    float Tensor.float
    trapz ops.trapz
"""

CONSEQUENCES: dict[str, dict[str, str]] = {}
"""Operator -> counterpart -> what happens in float64."""
for calls, consequence in (
    (REFUSED, "refused"),
    (ROUNDED, "computed in float32 on the way"),
    (NARROW, "the result is float32"),
):
    for name, *apis in map(str.split, calls.strip().splitlines()):
        CONSEQUENCES.setdefault(name, {}).update(dict.fromkeys(apis, consequence))
