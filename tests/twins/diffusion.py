"""Diffusion models: transformers, the U-Net of latent diffusion, autoencoders, samplers."""

from equivalence.declare.draws import integers, normal, uniform
from equivalence.declare.twin import Twin, grid


def twin(name: str, file: str, network: str, inputs, configs, **more) -> Twin:
    """Both sides have the network in a file of the same name."""
    return Twin(
        name,
        reference=f"pt_reference.{file}:{network}",
        candidate=f"ms_models.{file}:{network}",
        inputs=inputs,
        configs=configs,
        **{"phases": ("train",), "level": "nightly"} | more,
    )


TIMES = uniform(2, low=1.0, high=999.0)

QUIET = 0.1
"""A scale of tokens at which the epsilon of a norm shows."""

TRANSFORMERS = (
    twin("timestep_mlp", "diffusion", "TimestepMLP", [TIMES], grid(width=32, channels=24)),
    twin(
        "patches",
        "diffusion",
        "Patches",
        [normal(2, "channels", 6, 10)],
        grid(channels=3, hidden=16, patch=2),
    ),
    twin(
        "dit_block",
        "diffusion",
        "DiTBlock",
        [normal(2, 6, "width", scale=QUIET), normal(2, "width")],
        grid(width=24, heads=3),
    ),
    twin(
        "dit",
        "diffusion",
        "DiT",
        [normal(2, "channels", "size", "size"), TIMES, integers(2, high=6)],
        grid(size=8, channels=4, patch=2, width=24, depth=2, heads=3, classes=5),
    ),
    twin(
        "joint_block",
        "diffusion",
        "JointBlock",
        [normal(2, 8, "width", scale=QUIET), normal(2, 5, "width"), normal(2, "width")],
        grid(width=24, heads=3),
    ),
    # DiT-S/2 at 256 tokens.
    twin(
        "dit_block_of_dit_s",
        "diffusion",
        "DiTBlock",
        [normal(2, 256, "width", scale=QUIET), normal(2, "width")],
        grid(width=384, heads=6),
    ),
)


def resnet_block(name: str, side: int, configs, **more) -> Twin:
    """A residual block with the embedding of a time."""
    inputs = [normal(2, "inputs", side, side), normal(2, "time_width")]
    return twin(name, "diffusion_unet", "ResnetBlock", inputs, configs, **more)


def spatial_transformer(name: str, side: int, tokens: int, configs) -> Twin:
    """Pixels that attend to each other and to a text."""
    inputs = [normal(2, "width", side, side), normal(2, tokens, "context_width")]
    return twin(name, "diffusion_unet", "SpatialTransformer", inputs, configs)


UNET = (
    resnet_block(
        "diffusion_resnet_block",
        5,
        grid(inputs=8, outputs=[8, 12], time_width=16, groups=4),
        level="gate",
    ),
    spatial_transformer(
        "spatial_transformer", 4, 5, grid(width=12, context_width=10, heads=3, groups=4)
    ),
    twin("unet_downsample", "diffusion_unet", "Downsample", [normal(2, 4, 6, 7)], grid(channels=4)),
    twin("unet_upsample", "diffusion_unet", "Upsample", [normal(2, 4, 3, 5)], grid(channels=4)),
    twin(
        "diffusion_unet",
        "diffusion_unet",
        "UNet",
        [normal(2, "channels", 8, 8), normal(2, "time_width"), normal(2, 5, "context_width")],
        grid(channels=4, width=8, time_width=16, context_width=10, heads=2, groups=4),
    ),
)

AUTOENCODERS = (
    twin(
        "autoencoder_kl",
        "autoencoder",
        "AutoencoderKL",
        [normal(2, "channels", 8, 8), normal(2, "latents", 4, 4)],
        grid(channels=3, width=8, latents=4, groups=4, scaling_factor=0.18215),
    ),
    twin(
        "causal_conv3d",
        "autoencoder",
        "CausalConv3d",
        [normal(2, "inputs", 5, 4, 6)],
        grid(inputs=4, outputs=8, stride=[1, 2], groups=[1, 2, 4]),
    ),
    twin(
        "causal_autoencoder",
        "autoencoder",
        "CausalAutoencoder",
        [normal(2, "channels", 5, 6, 8)],
        grid(channels=3, width=8, groups=4),
    ),
)

NOISE, LABELS = normal(2, "channels", 5, 4), integers(2, high=3)
DENOISER = {"channels": 3, "width": 8, "classes": 3}

SAMPLERS = (
    twin(
        "ddim",
        "samplers",
        "DDIM",
        [NOISE, LABELS, normal("steps", 2, "channels", 5, 4)],
        grid(**DENOISER, scale=2.0, steps=5, eta=[1.0, 0.0]),
    ),
    twin(
        "dpm_solver", "samplers", "DPMSolver", [NOISE, LABELS], grid(**DENOISER, scale=2.0, steps=5)
    ),
    twin(
        "flow_euler",
        "samplers",
        "FlowEuler",
        [NOISE, LABELS],
        grid(**DENOISER, scale=2.0, steps=5, shift=[1.0, 3.0]),
    ),
    twin(
        "velocity_loss",
        "samplers",
        "VelocityLoss",
        [normal(4, 3, 5, 4), normal(4, 3, 5, 4), integers(4, high=1000), integers(4, high=3)],
        grid(**DENOISER, gamma=5.0),
    ),
    twin(
        "dit_training",
        "samplers",
        "dit_training",
        [normal(4, 4, 4, 4), normal(4, 4, 4, 4), uniform(4), integers(4, high=6)],
        grid(
            size=4,
            channels=4,
            patch=2,
            width=16,
            depth=1,
            heads=2,
            classes=5,
            learning_rate=1e-3,
            weight_decay=0.1,
            limit=1.0,
            decay=0.9999,
        ),
        steps=3,
    ),
)

TWINS = TRANSFORMERS + UNET + AUTOENCODERS + SAMPLERS
