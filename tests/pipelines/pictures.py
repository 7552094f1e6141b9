"""Single operations on pictures."""

from equivalence.declare.twin import grid
from tests.pipelines.making import beside

DECODED = {
    "deep": "16 bits are divided by 256, by PIL cut off: finding png_16_bits",
    "cmyk": "black ink is off by one level: finding decode_cmyk",
}
"""What MindSpore's own Decode reads otherwise."""

PADDED = "an odd margin is padded a pixel lower: finding center_crop_of_smaller"

PIPELINES = (
    beside("whole_pictures", "normalized", "normalized", "image_folder", without=DECODED),
    beside("in_levels", "normalized", "normalized_in_levels", "image_folder", without=DECODED),
    beside(
        "center_crop",
        "center_crop",
        "center_crop",
        "image_folder",
        configs=grid(crop=[39, 40]),
        without={"wide": PADDED, "tall": PADDED},
    ),
    beside("decode", "decoded", "decoded", "image_formats"),
    beside("native_decode", "decoded", "native_decoded", "image_formats", without=DECODED),
    beside("decode_16_bits", "decoded", "decoded", "deep_grey"),
)
