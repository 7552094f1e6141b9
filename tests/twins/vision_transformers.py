"""ViT and Swin: blocks, small networks, and blocks of the sizes that people train."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

# Compiled, a whole network takes long; its blocks are.
ONCE = {"executions": ("pynative",), "level": "nightly"}

PT, MS = "pt_reference.vision_transformers:", "ms_models.vision_transformers:"

VIT = {"reference": PT + "encoder_block", "candidate": MS + "EncoderBlock"}
SWIN = {"reference": PT + "swin_block", "candidate": MS + "SwinBlock"}

# A map that the windows fill; one that is padded, and along an axis a single window, which is not
# shifted.
MAPS = (
    *grid(dim=12, num_heads=3, window=4, shift=[2, 0], H=8, W=8),
    *grid(dim=12, num_heads=3, window=4, shift=2, H=4, W=7),
)

TWINS = (
    Twin(
        "vit_block",
        configs=grid(num_heads=3, hidden_dim=12, mlp_dim=20),
        inputs=[normal(2, 5, "hidden_dim")],
        level="nightly",
        **VIT,
    ),
    Twin(
        "swin_block",
        configs=MAPS,
        inputs=[normal(2, "H", "W", "dim")],
        phases=("train",),
        executions=("pynative",),
        **SWIN,
    ),
    Twin(
        # By itself, since compiling it takes longer than the gate has.
        "swin_block_compiled",
        configs=MAPS,
        inputs=[normal(2, "H", "W", "dim")],
        executions=("graph",),
        level="nightly",
        **SWIN,
    ),
    Twin(
        "vit",
        reference=PT + "vit",
        candidate=MS + "VisionTransformer",
        configs=grid(
            image_size=12,
            patch_size=4,
            num_layers=2,
            num_heads=3,
            hidden_dim=12,
            mlp_dim=20,
            num_classes=5,
            dropout=0.1,
        ),
        inputs=[normal(2, 3, "image_size", "image_size")],
        random_layers="eval",
        **ONCE,
    ),
    Twin(
        "swin",
        reference=PT + "swin",
        candidate=MS + "Swin",
        configs=grid(
            patch_size=2, embed_dim=8, depths=(2, 2), num_heads=(2, 4), window=3, num_classes=5
        ),
        inputs=[normal(2, 3, 22, 14)],
        **ONCE,
    ),
    Twin(
        "vit_block_of_base",
        configs=grid(num_heads=12, hidden_dim=768, mlp_dim=3072),
        inputs=[normal(2, 197, "hidden_dim")],
        phases=("train",),
        **ONCE,
        **VIT,
    ),
    Twin(
        "swin_block_of_tiny",
        configs=grid(dim=96, num_heads=3, window=7, shift=3),
        inputs=[normal(1, 56, 56, "dim")],
        phases=("train",),
        **ONCE,
        **SWIN,
    ),
)
