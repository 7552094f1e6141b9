"""Blocks of torchvision's ViT and Swin, by the sizes that both sides have in common."""

from torch import nn
from torchvision.models import swin_transformer, vision_transformer


def encoder_block(
    num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float = 0.0
) -> vision_transformer.EncoderBlock:
    """ViT's block: N,S,hidden_dim -> N,S,hidden_dim."""
    return vision_transformer.EncoderBlock(num_heads, hidden_dim, mlp_dim, dropout, dropout)


def swin_block(
    dim: int, num_heads: int, window: int, shift: int
) -> swin_transformer.SwinTransformerBlock:
    """Swin's block: N,H,W,dim -> N,H,W,dim."""
    return swin_transformer.SwinTransformerBlock(
        dim, num_heads, window_size=[window] * 2, shift_size=[shift] * 2
    )


def vit(image_size: int, patch_size: int, dropout: float = 0.0, **sizes: int) -> nn.Module:
    """torchvision's vision transformer: N,3,image_size,image_size -> N,num_classes."""
    return vision_transformer.VisionTransformer(
        image_size, patch_size, dropout=dropout, attention_dropout=dropout, **sizes
    )


def swin(
    patch_size: int,
    embed_dim: int,
    depths: tuple[int, ...],
    num_heads: tuple[int, ...],
    window: int,
    num_classes: int,
) -> nn.Module:
    """torchvision's Swin transformer without stochastic depth: N,3,H,W -> N,num_classes."""
    return swin_transformer.SwinTransformer(
        [patch_size] * 2,
        embed_dim,
        list(depths),
        list(num_heads),
        [window] * 2,
        stochastic_depth_prob=0.0,
        num_classes=num_classes,
    )
