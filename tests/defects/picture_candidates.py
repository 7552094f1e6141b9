"""How ports decode pictures by hand: a right one, and mistakes that RGB pictures do not show."""

import io

import numpy as np
from mindspore.dataset import transforms, vision
from PIL import Image, ImageOps

from ms_models import data


def opened(encoded: np.ndarray) -> Image.Image:
    """A picture with the channels that its file has."""
    return Image.open(io.BytesIO(encoded.tobytes()))


def _rgb(levels: np.ndarray) -> Image.Image:
    """Levels of 255 as a picture of three channels; those of one channel are repeated."""
    if levels.ndim == 2:
        levels = np.repeat(levels[..., None], 3, -1)
    return Image.fromarray(np.ascontiguousarray(levels.astype(np.uint8)))


def right(encoded: np.ndarray) -> Image.Image:
    """A right port, kind by kind."""
    image = opened(encoded)
    levels = np.array(image)
    if image.mode == "P":
        colours = np.array(image.getpalette(), np.uint8).reshape(-1, 3)
        return _rgb(colours[levels])
    if image.mode == "1":
        return _rgb(255 * levels)
    if image.mode == "I;16":
        return _rgb(levels.clip(0, 255))
    if image.mode == "CMYK":
        return image.convert("RGB")
    return _rgb(
        levels[..., 0] if image.mode == "LA" else levels[..., :3] if levels.ndim > 2 else levels
    )


def turned_upright(encoded: np.ndarray) -> Image.Image:
    """As OpenCV's imread turns it."""
    return ImageOps.exif_transpose(opened(encoded)).convert("RGB")


def on_white(encoded: np.ndarray) -> Image.Image:
    """Alpha shows a white page behind the picture."""
    image = opened(encoded)
    if image.mode != "RGBA":
        return image.convert("RGB")
    page = Image.new("RGBA", image.size, (255, 255, 255, 255))
    return Image.alpha_composite(page, image).convert("RGB")


def premultiplied(encoded: np.ndarray) -> Image.Image:
    """Grey times its alpha."""
    image = opened(encoded)
    if image.mode != "LA":
        return image.convert("RGB")
    levels, alpha = np.moveaxis(np.array(image, np.float64), -1, 0)
    return _rgb(np.round(levels * alpha / 255))


def numbers_of_colours(encoded: np.ndarray) -> Image.Image:
    """The numbers of a palette's colours as levels of grey."""
    image = opened(encoded)
    return _rgb(np.array(image)) if image.mode == "P" else image.convert("RGB")


def transparent_as_black(encoded: np.ndarray) -> Image.Image:
    """The colour of a palette that is transparent is black."""
    image = opened(encoded)
    if image.mode != "P" or "transparency" not in image.info:
        return image.convert("RGB")
    levels = np.array(image.convert("RGBA"))
    return _rgb(levels[..., :3] * (levels[..., 3:] > 0))


def bits_as_levels(encoded: np.ndarray) -> Image.Image:
    """White is 1 of 255."""
    image = opened(encoded)
    return _rgb(np.array(image).astype(np.uint8)) if image.mode == "1" else image.convert("RGB")


def divided_by_256(encoded: np.ndarray) -> Image.Image:
    """As OpenCV reads 16 bits."""
    image = opened(encoded)
    return _rgb(np.array(image) // 256) if image.mode == "I;16" else image.convert("RGB")


def inks_as_lights(encoded: np.ndarray) -> Image.Image:
    """The first three of four inks are taken for red, green and blue."""
    image = opened(encoded)
    return _rgb(np.array(image)[..., :3]) if image.mode == "CMYK" else image.convert("RGB")


def layout_by_size(encoded: np.ndarray) -> Image.Image:
    """An axis of size 1 or 3 that comes first is taken for that of the channels."""
    levels = np.array(opened(encoded).convert("RGB"))
    if levels.shape[0] in (1, 3):
        levels = levels.transpose(1, 2, 0)
    return _rgb(levels[..., 0] if levels.shape[-1] == 1 else levels)


def within(longest: int):
    """A resize to a shorter side of 32 whose longer side is cut at a largest size."""

    def resize(image: Image.Image) -> Image.Image:
        width, height = image.size
        short, long = min(width, height), max(width, height)
        new = 32, int(32 * long / short)
        if new[1] > longest:
            new = max(1, int(longest * short / long)), longest
        size = new if width <= height else new[::-1]
        return image.resize(size, Image.Resampling.BILINEAR)

    return resize


def right_evaluation(folder, **arguments) -> data.StagedDataset:
    """Evaluation whose pictures are decoded by hand."""
    made = data.imagenet_eval(folder, **arguments)
    made.operators["decode"] = transforms.Compose([right, vision.ToPIL()])
    return made
