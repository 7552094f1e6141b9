"""Which APIs of PyTorch the twins, pipelines and initialisers verify, where no operator does."""

import itertools
from typing import Any

from equivalence.coverage.known import VerifiedAPI
from equivalence.declare.operator import to
from tests.initials import declared as initials
from tests.pipelines import declared as pipelines
from tests.twins import declared as twins

DECLARES_NOTHING = True

ALIASES = {
    "torch.Tensor.clip": "torch.clamp",
    "torch.absolute": "torch.abs",
    "torch.arccos": "torch.acos",
    "torch.arccosh": "torch.acosh",
    "torch.arcsin": "torch.asin",
    "torch.arcsinh": "torch.asinh",
    "torch.arctan": "torch.atan",
    "torch.arctan2": "torch.atan2",
    "torch.arctanh": "torch.atanh",
    "torch.cholesky": "torch.linalg.cholesky",
    "torch.clip": "torch.clamp",
    "torch.concat": "torch.cat",
    "torch.concatenate": "torch.cat",
    "torch.det": "torch.linalg.det",
    "torch.divide": "torch.div",
    "torch.fix": "torch.trunc",
    "torch.greater": "torch.gt",
    "torch.greater_equal": "torch.ge",
    "torch.inverse": "torch.linalg.inv",
    "torch.less": "torch.lt",
    "torch.less_equal": "torch.le",
    "torch.linalg.cross": "torch.cross",
    "torch.linalg.matmul": "torch.matmul",
    "torch.moveaxis": "torch.movedim",
    "torch.multiply": "torch.mul",
    "torch.negative": "torch.neg",
    "torch.nn.BatchNorm1d": "torch.nn.functional.batch_norm",
    "torch.nn.BatchNorm3d": "torch.nn.functional.batch_norm",
    "torch.nn.BCELoss": "torch.nn.functional.binary_cross_entropy",
    "torch.nn.BCEWithLogitsLoss": "torch.nn.functional.binary_cross_entropy_with_logits",
    "torch.nn.CircularPad2d": "torch.nn.functional.pad",
    "torch.nn.ConstantPad1d": "torch.nn.functional.pad",
    "torch.nn.ConstantPad2d": "torch.nn.functional.pad",
    "torch.nn.ConstantPad3d": "torch.nn.functional.pad",
    "torch.nn.CrossEntropyLoss": "torch.nn.functional.cross_entropy",
    "torch.nn.InstanceNorm1d": "torch.nn.functional.instance_norm",
    "torch.nn.InstanceNorm2d": "torch.nn.functional.instance_norm",
    "torch.nn.InstanceNorm3d": "torch.nn.functional.instance_norm",
    "torch.nn.KLDivLoss": "torch.nn.functional.kl_div",
    "torch.nn.ReflectionPad1d": "torch.nn.functional.pad",
    "torch.nn.ReflectionPad2d": "torch.nn.functional.pad",
    "torch.nn.ReflectionPad3d": "torch.nn.functional.pad",
    "torch.nn.ReplicationPad1d": "torch.nn.functional.pad",
    "torch.nn.ReplicationPad2d": "torch.nn.functional.pad",
    "torch.nn.ReplicationPad3d": "torch.nn.functional.pad",
    "torch.nn.Upsample": "torch.nn.functional.interpolate",
    "torch.nn.UpsamplingBilinear2d": "torch.nn.functional.interpolate",
    "torch.nn.UpsamplingNearest2d": "torch.nn.functional.interpolate",
    "torch.nn.ZeroPad2d": "torch.nn.functional.pad",
    "torch.not_equal": "torch.ne",
    "torch.pinverse": "torch.linalg.pinv",
    "torch.row_stack": "torch.vstack",
    "torch.slogdet": "torch.linalg.slogdet",
    "torch.special.expit": "torch.sigmoid",
    "torch.swapdims": "torch.transpose",
    "torch.trapezoid": "torch.trapz",
}
"""Another name -> the operator, where capitals and underscores are not all that differs."""

CONV = {"groups": "group", "bias": "has_bias"}
RESNETS = ("resnet", "resnet_deep", "resnet_imagenet", "resnet_of_basic_blocks")
OF_RESNET = to("ms_models.resnet:resnet")
WARMUP = to("ms_models.schedules:warmup_cosine")
INIT = "torch.nn.init."
VISION = "torchvision.transforms."
DATA = "torch.utils.data."

WEIGHTED = (
    VerifiedAPI(
        "torch.nn.Conv2d",
        to("nn.Conv2d", **CONV, defaults={"bias": (True, False)}),
        ("conv2d", "conv3x3", "conv1x1", "conv7x7", "default_convolution", "conv_padded_by_rule"),
    ),
    VerifiedAPI("torch.nn.Linear", to("nn.Dense", bias="has_bias"), ("dense", "default_dense")),
    VerifiedAPI(
        "torch.nn.BatchNorm2d",
        to("nn.BatchNorm2d"),
        (
            "batch_norm2d",
            "plain_batch_norm2d",
            "default_batch_norm2d",
            "batch_norm2d_of_unconverted_momentum",
        ),
    ),
    VerifiedAPI(
        "torch.nn.LayerNorm",
        to("nn.LayerNorm", eps="epsilon", defaults={"eps": (1e-5, 1e-7)}),
        ("layer_norm", "default_layer_norm"),
    ),
    VerifiedAPI("torch.nn.GroupNorm", to("nn.GroupNorm"), ("group_norm",)),
    VerifiedAPI(
        "torch.nn.TransformerEncoder", to("nn.TransformerEncoder"), ("transformer_encoder",)
    ),
    VerifiedAPI("torch.nn.PReLU", to("nn.PReLU", num_parameters="channel", init="w"), ("prelu",)),
    VerifiedAPI(
        "torchvision.ops.sigmoid_focal_loss",
        to("ms_models.losses:SigmoidFocalLoss"),
        ("focal_loss",),
    ),
    *(
        VerifiedAPI(f"torchvision.models.{name}", OF_RESNET, RESNETS)
        for name in (
            *(f"resnet{depth}" for depth in (18, 34, 50, 101, 152)),
            "resnet.ResNet",
        )
    ),
    VerifiedAPI(
        "torchvision.models.resnet.Bottleneck", to("ms_models.resnet:Bottleneck"), ("bottleneck",)
    ),
    VerifiedAPI(
        "torchvision.models.resnet.BasicBlock", to("ms_models.resnet:BasicBlock"), ("basic_block",)
    ),
)

TRAINING = (
    VerifiedAPI(
        "torch.optim.SGD",
        to("nn.SGD", lr="learning_rate", defaults={"lr": (1e-3, 0.1)}),
        ("sgd", "nesterov_momentum"),
    ),
    VerifiedAPI(
        "torch.optim.SGD",
        to("nn.Momentum", lr="learning_rate", nesterov="use_nesterov"),
        ("momentum", "nesterov_ignored"),
    ),
    VerifiedAPI(
        "torch.optim.Adam",
        to("nn.Adam", lr="learning_rate", amsgrad="use_amsgrad"),
        ("adam", "adam_as_configured", "adam_ungrouped", "adam_eps_uncorrected"),
    ),
    VerifiedAPI("torch.optim.Adam", to("ms_models.optim:corrected_adam"), ("adam_eps",)),
    VerifiedAPI("torch.optim.AdamW", to("ms_models.optim:adamw"), ("adamw",)),
    VerifiedAPI(
        "torch.optim.AdamW",
        to(
            "nn.AdamWeightDecay",
            lr="learning_rate",
            defaults={"eps": (1e-8, 1e-6), "weight_decay": (0.01, 0.0)},
        ),
        ("adamw_by_bert_adam",),
    ),
    VerifiedAPI("torch.optim.SGD", to("mint.optim.SGD"), ("mint_sgd",)),
    VerifiedAPI("torch.optim.Adam", to("mint.optim.Adam"), ("mint_adam", "mint_adam_amsgrad")),
    VerifiedAPI("torch.optim.AdamW", to("mint.optim.AdamW"), ("mint_adamw",)),
    VerifiedAPI(
        "torch.optim.lr_scheduler.CosineAnnealingLR",
        to("nn.cosine_decay_lr"),
        ("cosine", "cosine_by_epoch", "cosine_of_the_warmup"),
    ),
    VerifiedAPI(
        "torch.optim.lr_scheduler.CosineAnnealingLR", to("nn.CosineDecayLR"), ("computed_cosine",)
    ),
    VerifiedAPI("torch.optim.lr_scheduler.StepLR", to("nn.exponential_decay_lr"), ("step_decay",)),
    VerifiedAPI(
        "torch.optim.lr_scheduler.StepLR", to("nn.ExponentialDecayLR"), ("computed_step_decay",)
    ),
    VerifiedAPI(
        "torch.optim.lr_scheduler.MultiStepLR", to("nn.piecewise_constant_lr"), ("milestones",)
    ),
    VerifiedAPI(
        "torch.optim.lr_scheduler.SequentialLR",
        WARMUP,
        ("warmup_cosine", "momentum_by_warmup_cosine"),
    ),
    VerifiedAPI("torch.optim.lr_scheduler.LambdaLR", WARMUP, ("warmup_cosine", "warmup_from_zero")),
    VerifiedAPI(
        "torch.Tensor.backward", to("value_and_grad"), ("momentum", "accumulated_gradients")
    ),
    VerifiedAPI("torch.nn.utils.clip_grad_norm_", to("ops.clip_by_norm"), ("clipped_momentum",)),
    VerifiedAPI("torch.nn.utils.clip_grad_value_", to("ops.clip_by_value"), ("clipped_momentum",)),
    *(
        VerifiedAPI(
            f"torch.{name}", to("amp.auto_mixed_precision"), ("mixed_o2", "mixed_o3", "mixed_auto")
        )
        for name in ("autocast", "amp.autocast", "cuda.amp.autocast")
    ),
)

INITIALISERS = (
    *(
        VerifiedAPI(INIT + name, to("common.initializer." + other), ("convolution", *more))
        for name, other, *more in (
            ("kaiming_normal_", "HeNormal", "resnet_of_basic_blocks"),
            ("kaiming_uniform_", "HeUniform"),
            ("xavier_normal_", "XavierNormal"),
            ("xavier_uniform_", "XavierUniform"),
            ("trunc_normal_", "TruncatedNormal", "default_truncated_normal"),
            ("normal_", "Normal"),
            ("ones_", "One"),
            ("zeros_", "Zero"),
            ("constant_", "Constant", "resnet_of_basic_blocks"),
        )
    ),
    VerifiedAPI("torch.nn.Embedding", to("nn.Embedding"), ("default_embedding",)),
)

PIPELINES = (
    VerifiedAPI(
        VISION + "Resize", to("dataset.vision.Resize"), ("imagenet_eval", "native_imagenet_eval")
    ),
    VerifiedAPI(
        VISION + "CenterCrop",
        to("dataset.vision.CenterCrop"),
        ("center_crop", "imagenet_eval", "native_center_crop"),
    ),
    VerifiedAPI(
        VISION + "ToTensor", to("dataset.vision.ToTensor"), ("whole_pictures", "imagenet_eval")
    ),
    VerifiedAPI(
        VISION + "Normalize", to("dataset.vision.Normalize"), ("whole_pictures", "in_levels")
    ),
    VerifiedAPI(VISION + "functional.pad", to("dataset.vision.Pad"), ("cifar10_train",)),
    VerifiedAPI(VISION + "functional.crop", to("dataset.vision.Crop"), ("cifar10_train",)),
    VerifiedAPI(
        VISION + "functional.hflip", to("dataset.vision.HorizontalFlip"), ("cifar10_train",)
    ),
    VerifiedAPI(
        "torchvision.datasets.ImageFolder", to("dataset.ImageFolderDataset"), ("imagenet_eval",)
    ),
    VerifiedAPI(
        DATA + "DataLoader", to("dataset.GeneratorDataset"), ("imagenet_eval", "cifar10_train")
    ),
    VerifiedAPI(
        DATA + "DistributedSampler",
        to("dataset.DistributedSampler"),
        ("imagenet_eval", "uneven_shards_dropped"),
    ),
)

LAYERS = (*WEIGHTED, *TRAINING, *INITIALISERS, *PIPELINES)


def declared() -> dict[str, Any]:
    """Twins, pipelines and initialisers by their names."""
    return {each.name: each for each in itertools.chain(initials(), pipelines(), twins())}
