"""ViT and Swin: blocks, small networks, and blocks of the sizes that people train."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.vision_transformers:", "ms_models.vision_transformers:"

VIT = {"reference": PT + "encoder_block", "candidate": MS + "EncoderBlock"}
SWIN = {"reference": PT + "swin_block", "candidate": MS + "SwinBlock"}

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
        # Windows that fill the map, that do not, and a map of a single window, which is not
        # shifted.
        configs=grid(dim=12, num_heads=3, window=4, shift=[2, 0], H=8, W=8)
        + grid(dim=12, num_heads=3, window=4, shift=2, H=7, W=10)
        + grid(dim=12, num_heads=3, window=4, shift=2, H=4, W=7),
        inputs=[normal(2, "H", "W", "dim")],
        phases=("train",),
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
        level="nightly",
    ),
    Twin(
        "swin",
        reference=PT + "swin",
        candidate=MS + "Swin",
        configs=grid(
            patch_size=2, embed_dim=8, depths=(2, 2), num_heads=(2, 4), window=3, num_classes=5
        ),
        inputs=[normal(2, 3, 22, 14)],
        level="nightly",
    ),
    Twin(
        "vit_block_of_base",
        configs=grid(num_heads=12, hidden_dim=768, mlp_dim=3072),
        inputs=[normal(2, 197, "hidden_dim")],
        phases=("train",),
        level="nightly",
        **VIT,
    ),
    Twin(
        "swin_block_of_tiny",
        configs=grid(dim=96, num_heads=3, window=7, shift=3),
        inputs=[normal(1, 56, 56, "dim")],
        phases=("train",),
        level="nightly",
        **SWIN,
    ),
)
