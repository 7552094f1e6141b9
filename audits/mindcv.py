"""MindCV's networks beside those of torchvision and timm, whichever is the nearer."""

from audits.mindcv_row import because, mended, own, port, unpaired
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import normal

SAME = "pad_mode='same' pads even sizes below and to the right, the original all round"
ODD = "with odd sizes 'same' pads all round"
ODD_POOL = {"maxpool.padding": ODD}
TANH = "GELU: by tanh, the original's by erf"
AFTER_RELU = {"MaxPool2d.padding_value": "out of a ReLU nothing is below zero"}
MULTIPLE = {"Conv2d.padding": "sizes are multiples of the stride: 'same' pads nothing"}
ODD_CONV = {"Conv2d.padding": ODD}
PADDED = {"Conv2d.padding": "padded as 'same' before the convolution"}
ALONE = "only the candidate draws"
MAPS_OF_FOUR = (normal(2, 3, 107, 107),)
"""On maps of one pixel BatchNorm leaves nothing but rounding of an inception's gradients."""

PORTS = (
    port("MobileNetV2", "mobilenet_v2_100", "torchvision mobilenet_v2", 33),
    port("GhostNet", "ghostnet_050", "timm ghostnet_050", 33),
    port(
        "ResNet",
        "resnet18",
        "torchvision resnet18",
        differs=because(f"max_pool: {SAME}"),
        alike={"size": 33, "settings": ODD_POOL},
    ),
    port(
        "ResNeXt",
        "resnext50_32x4d",
        "torchvision resnext50_32x4d",
        32,
        differs=because(f"max_pool: {SAME}"),
        alike={"size": 33, "settings": ODD_POOL},
    ),
    port("RegNet", "regnet_y_400mf", "torchvision regnet_y_400mf", 33),
    port("DenseNet", "densenet121", "torchvision densenet121", 65, settings=AFTER_RELU),
    port("RepVGG", "repvgg_a0", "timm repvgg_a0", 33),
    port("Res2Net", "res2net50", "timm res2net50_26w_4s", 33, settings=AFTER_RELU),
    port(
        "MobileNetV1",
        "mobilenet_v1_100",
        "timm mobilenetv1_100",
        33,
        differs=because("ReLU for ReLU6"),
        alike={"reference": own("mobilenet_v1_100")},
    ),
    port(
        "SqueezeNet",
        "squeezenet1_0",
        "torchvision squeezenet1_0",
        differs=because("the max poolings round sizes down, the original's up (ceil_mode)"),
        alike={"reference": own("squeezenet1_0")},
    ),
    port(
        "SqueezeNet",
        "squeezenet1_1",
        "torchvision squeezenet1_1",
        differs=because(
            "the max poolings round sizes down, the original's up (ceil_mode); features.0 pads "
            "by 1, the original's does not"
        ),
        alike={"reference": own("squeezenet1_1")},
    ),
    port(
        "ShuffleNetV2",
        "shufflenet_v2_x0_5",
        "torchvision shufflenet_v2_x0_5",
        33,
        refused=unpaired(
            "the classifier has no bias; channels are shuffled before a block, not after it"
        ),
    ),
    port(
        "MNASNet",
        "mnasnet_050",
        "torchvision mnasnet0_5",
        65,
        differs=because("BatchNorm: eps 1e-3 for 1e-5, momentum 0.01 for 0.0003"),
        alike={"reference": own("mnasnet_050")},
    ),
    port(
        "MobileNetV3",
        "mobilenet_v3_small_100",
        "torchvision mobilenet_v3_small",
        differs=because(
            f"BatchNorm: eps 1e-5 for 1e-3, momentum 0.1 for 0.01; depthwise convolutions: {SAME}"
        ),
        alike={"reference": own("mobilenet_v3_small_100"), "size": 33, "settings": ODD_CONV},
    ),
    port(
        "EfficientNet",
        "efficientnet_b0",
        "torchvision efficientnet_b0",
        differs=because(f"all convolutions of stride 2: {SAME}"),
        alike={"size": 33, "settings": ODD_CONV},
        random_layers=("DropPath", "StochasticDepth"),
    ),
    port(
        "SKNet",
        "skresnet18",
        "timm skresnet18",
        differs=because(f"max_pool: {SAME}"),
        alike={"size": 33, "settings": ODD_POOL},
    ),
    port(
        "Xception",
        "xception",
        "timm legacy_xception",
        44,
        known={"phases": ("train",)},
        differs=because(f"max poolings: {SAME}; dropout of 0.5 for none", random=ALONE),
        alike={
            "reference": own("xception"),
            "size": 39,
            "settings": {"MaxPool2d.padding": ODD},
        },
    ),
    port(
        "MixNet",
        "mixnet_s",
        "timm mixnet_s",
        33,
        known={"phases": ("train",)},
        differs=because(
            "ReLU for SiLU in the squeeze-and-excitation blocks; dropout of 0.2 for none",
            random=ALONE,
        ),
        alike={"reference": own("mixnet_s")},
    ),
    port(
        "ResNeSt",
        "resnest14",
        "timm resnest14d",
        differs=because(f"max_pool, and average poolings that do not count padding: {SAME}"),
        alike={
            "reference": own("resnest14"),
            "settings": {
                "layer1.0.downsample.0.kind": "a pooling of 1 x 1 is the identity",
                "AvgPool2d.ceil_mode": "with even sizes nothing is left over",
            },
        },
    ),
    port(
        "InceptionV4",
        "inception_v4",
        "timm inception_v4",
        75,
        batch=4,
        known={"phases": ("train",)},
        differs=because(
            "BatchNorm: momentum 0.0003 for 0.1; dropout of 0.2 for none", random=ALONE
        ),
        alike={"reference": own("inception_v4"), "inputs": MAPS_OF_FOUR},
    ),
    port(
        "InceptionV3",
        "inception_v3",
        "torchvision inception_v3",
        75,
        batch=4,
        candidate="mindcv.models.inceptionv3:InceptionV3",
        configs=({"num_classes": 10, "aux_logits": False},),
        known={"phases": ("train",)},
        differs=because(
            "average poolings that do not count padding; BatchNorm: momentum 0.0003 for 0.1; "
            "dropout of 0.2 for 0.5 (compared without the auxiliary classifier, which asks for "
            "pictures of 299 x 299)",
            random="p 0.5 (reference) 0.2 (candidate)",
        ),
        alike={"reference": own("inception_v3"), "inputs": MAPS_OF_FOUR},
    ),
    port(
        "ConvNeXt",
        "convnext_tiny",
        "timm convnext_tiny",
        32,
        differs=because(TANH),
        alike={"reference": own("convnext_tiny"), "settings": MULTIPLE},
    ),
    port(
        "Visformer",
        "visformer_tiny",
        "timm visformer_tiny",
        # Larger values make its attention so steep that half of the gradients are rounding.
        inputs=[normal(2, 3, 224, 224, scale=0.05)],
        known={"phases": ("train",)},
        differs=because(f"{TANH}; DropPath of 0.03 for none", random=ALONE),
        alike={"reference": own("visformer_tiny")},
        random_layers=("DropPath",),
    ),
    port(
        "ViT",
        "vit_b_32_224",
        "timm vit_base_patch32_224",
        224,
        differs=because(f"{TANH}; LayerNorm: eps 1e-7 for 1e-6"),
        alike={"reference": own("vit_b_32_224")},
    ),
    port(
        "VOLO",
        "volo_d1",
        "timm volo_d1_224",
        224,
        batch=1,  # its truth of two pictures takes ten minutes before the port refuses
        refused=Difference(
            "cannot run with MindSpore 2.10: it gives the paddings of ops.pad as a tuple of tuples",
            Raised("SideError", "paddings value"),
        ),
    ),
    port(
        "MLP-Mixer",
        "mlp_mixer_s_p32",
        "timm mixer_s32_224",
        224,
        refused=unpaired(
            f"the embedding of patches has no bias; {TANH}; LayerNorm: eps 1e-7 for 1e-6"
        ),
        alike={"reference": own("mlp_mixer_s_p32")},
    ),
    port(
        "ReXNet",
        "rexnet_10",
        "timm rexnet_100",
        64,
        refused=Difference(
            "cannot be built with MindSpore 2.10: it reshapes a tensor that has no values yet",
            Raised("SideError", "uninitialized"),
        ),
        alike={"candidate": mended("rexnet_10")},
        batch=8,
    ),
    port(
        "SE-ResNet",
        "seresnet18",
        "timm legacy_seresnet18",
        32,
        refused=unpaired(
            "squeeze-and-excitation of 8 channels or a multiple, the original's of 1/16"
        ),
    ),
    port(
        "GoogLeNet",
        "googlenet",
        "torchvision googlenet",
        33,
        configs=({"num_classes": 10, "aux_logits": False},),
        refused=unpaired(
            "no BatchNorm, as in the paper; 5 x 5 convolutions for the original's 3 x 3"
        ),
    ),
    port(
        "HRNet",
        "hrnet_w32",
        "timm hrnet_w32",
        32,
        refused=unpaired("the convolutions of the classification head have no bias"),
    ),
    port(
        "ResNetV2",
        "resnetv2_50",
        "timm resnetv2_50",
        32,
        refused=unpaired("a BatchNorm more in each stage; a Dense head for a 1 x 1 convolution"),
    ),
    port(
        "CaiT",
        "cait_xxs24_224",
        "timm cait_xxs24_224",
        224,
        refused=unpaired("no biases in the attentions: of q, k and v, and of the talking heads"),
    ),
    port(
        "SwinV2",
        "swinv2_tiny_window8",
        "timm swinv2_tiny_window8_256",
        256,
        refused=unpaired("q, k and v are layers of their own, the original's are one"),
    ),
    port(
        "PoolFormer",
        "poolformer_s12",
        "timm poolformer_s12",
        differs=because(
            "the last norm is a GroupNorm before the pooling, timm's a LayerNorm behind it"
        ),
        alike={"size": 32, "settings": {"head.norm.kind": "a map of 1 x 1 shows neither"}},
    ),
    port(
        "DPN",
        "dpn92",
        "timm dpn92",
        33,
        batch=8,
        settings={"classifier.kind": "on one pixel a 1 x 1 convolution is a dense layer"},
    ),
    port(
        "PVTv2",
        "pvt_v2_b0",
        "timm pvt_v2_b0",
        64,
        differs=because(
            f"{TANH}; LayerNorm: eps 1e-7 for 1e-5 behind convolutions; convolutions: {SAME}"
        ),
        alike={"reference": own("pvt_v2_b0"), "settings": PADDED},
    ),
    port(
        "EdgeNeXt",
        "edgenext_xx_small",
        "timm edgenext_xx_small",
        64,
        settings=MULTIPLE,
    ),
    port(
        "CrossViT",
        "crossvit_9",
        "timm crossvit_9_240",
        240,
        differs=because(
            f"{TANH}; LayerNorm: eps 1e-7 for 1e-6 in the blocks; pictures are scaled by "
            "bilinear interpolation with aligned corners, the original's by bicubic without"
        ),
        alike={"reference": own("crossvit_9")},
    ),
    port(
        "PiT",
        "pit_ti",
        "timm pit_ti_224",
        224,
        differs=because(TANH),
        alike={"reference": own("pit_ti")},
    ),
    port(
        "Swin",
        "swin_tiny",
        "timm swin_tiny_patch4_window7_224",
        224,
        known={"phases": ("train",)},
        differs=because(
            f"{TANH}; LayerNorm: eps 1e-7 for 1e-5 in the merging of patches; DropPath of 0.2 "
            "for 0.1",
            random="(candidate)",
        ),
        alike={"reference": own("swin_tiny")},
        random_layers=("DropPath",),
    ),
    port(
        "ConViT",
        "convit_tiny",
        "timm convit_tiny",
        224,
        known={"phases": ("train",)},
        differs=because(
            f"{TANH}; LayerNorm: eps 1e-7 for 1e-6; DropPath of 0.1 for none",
            "gradient:blocks.*.attn.pos_proj.bias",  # a softmax takes it away
            random=ALONE,
        ),
        alike={"reference": own("convit_tiny")},
        random_layers=("DropPath",),
    ),
    port(
        "ConvNeXtV2",
        "convnextv2_atto",
        "timm convnextv2_atto",
        32,
        differs=because(TANH),
        alike={"reference": own("convnextv2_atto"), "settings": MULTIPLE},
    ),
)
