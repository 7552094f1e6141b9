"""Single operations on pictures."""

from equivalence.declare.twin import grid
from tests.pipelines.making import beside

PIPELINES = (
    beside("whole_pictures", "normalized", "normalized", "image_folder"),
    beside("in_levels", "normalized", "normalized_in_levels", "image_folder"),
    beside(
        "center_crop", "center_crop", "center_crop", "image_folder", configs=grid(crop=[39, 40])
    ),
    beside("decode", "decoded", "decoded", "image_formats"),
    beside("native_decode", "decoded", "native_decoded", "image_formats"),
    beside("decode_16_bits", "decoded", "decoded", "deep_grey"),
)
