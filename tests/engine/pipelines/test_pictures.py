"""What is said of pictures: each phrase where it is true, none where it is nearly so."""

import numpy as np
import pytest

from equivalence.pipelines.pictures import (
    UNSCALED,
    alike,
    channels_last,
    explain,
    misnormalized,
    normalization,
    of_batch,
)

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def levels(count=2, height=12, width=10, seed=0):
    """Pictures of uint8."""
    rng = np.random.default_rng(seed)
    return [rng.integers(256, size=(height, width, 3), dtype=np.uint8) for _ in range(count)]


WANT = levels()
SCALED = [image / 255.0 for image in WANT]


def moved(down, right, image):
    """Shifted, with other pixels at the border."""
    made = levels(1, seed=9)[0][: image.shape[0], : image.shape[1]].copy()
    height, width = image.shape[:2]
    inner = image[max(-down, 0) : height - max(down, 0), max(-right, 0) : width - max(right, 0)]
    made[max(down, 0) :, max(right, 0) :][: inner.shape[0], : inner.shape[1]] = inner
    return made


PHRASES = {
    "the channels are reversed: BGR for RGB": lambda w: w[..., ::-1],
    "shape (10, 12, 3) for (12, 10, 3)": lambda w: w.swapaxes(0, 1),
    "shape (3, 12, 10) for (12, 10, 3): CHW for HWC": lambda w: w.transpose(2, 0, 1),
    "shape (8, 8, 3) for (12, 10, 3): square, where": lambda w: w[:8, :8],
    "shape (12, 10) for (12, 10, 3)": lambda w: w[..., 0],
    "three planes are read as if they were rows of pixels": lambda w: np.ascontiguousarray(
        w.transpose(2, 0, 1)
    ).reshape(w.shape),
    "rows of pixels are read as if they were three planes": lambda w: w.reshape(
        3, 12, 10
    ).transpose(1, 2, 0),
    "flipped upside down": lambda w: w[::-1],
    "flipped left to right": lambda w: w[:, ::-1],
    "only the first channel is left": lambda w: w * np.array([1, 0, 0], np.uint8),
    "the first channel is repeated": lambda w: w[..., [0, 0, 0]],
    "zero everywhere": lambda w: 0 * w,
    "shifted by 1 pixels down and 0 to the right": lambda w: moved(1, 0, w),
    "shifted by -2 pixels down and 3 to the right": lambda w: moved(-2, 3, w),
    "off by up to 1 of 255 levels, 0.00 in the mean": lambda w: (
        w ^ (np.indices(w.shape).sum(0) == 0)
    ),
    "float64 for uint8": lambda w: w / 1.0,
}


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_said_where_it_is_true(phrase):
    assert explain([PHRASES[phrase](image) for image in WANT], WANT).startswith(phrase)


@pytest.mark.parametrize("phrase", [p for p in PHRASES if not p.startswith(("shape", "off", "fl"))])
def test_it_is_not_said_where_one_pixel_speaks_against_it(phrase):
    got = [np.array(PHRASES[phrase](image)) for image in WANT]
    got[1][6, 5, 1] ^= 4
    assert explain(got, WANT).startswith("off by up to")


def test_what_holds_for_some_pictures_is_not_said_of_all():
    assert explain([WANT[0][:, ::-1], WANT[1]], WANT).startswith("off by up to")
    got = [moved(1, 0, WANT[0]), moved(0, 2, WANT[1])]
    assert explain(got, WANT) == "shifted by 1 pixels down and 0 to the right, others by others"


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (255.0, "255 times as much: not divided by 255"),
        (1 / 255.0, "0.003922 times as much: divided by 255 twice"),
        (-2.0, "-2 times as much"),
        (254.0, "254 times as much"),
    ],
)
def test_a_factor_is_told(factor, said):
    assert explain([np.float32(factor * image) for image in SCALED], SCALED) == said


def test_floating_pictures_are_off_by_their_own_unit():
    got = [image + 0.25 * (image > 0.5) for image in SCALED]
    assert explain(got, SCALED).startswith("off by up to 0.25, 0.1")


def test_bytes_of_files_are_no_pictures():
    assert explain([np.zeros(5, np.uint8)], [np.ones(5, np.uint8)]) == "other values"


def test_rounding_does_not_make_pictures_unlike():
    image = SCALED[0]
    assert alike(np.float32(image), image)
    assert not alike(image * (1 + 1e-4), image)
    assert not alike(image[1:], image)
    assert not alike(WANT[0] ^ 1, WANT[0])


def test_channels_are_put_last_where_it_is_clear_which_they_are():
    assert channels_last(np.zeros((3, 12, 10))).shape == (12, 10, 3)
    assert channels_last(np.zeros((12, 10, 3))).shape == (12, 10, 3)
    assert channels_last(np.zeros((3, 12, 3))).shape == (3, 12, 3)
    assert channels_last(np.zeros(7)).shape == (7,)


def normalized(mean, std, factor=1.0):
    return [np.float32((factor * image - mean) / std) for image in SCALED]


def test_a_normalisation_is_read_off_the_pictures():
    mean, std = normalization(SCALED, normalized(MEAN, STD))
    np.testing.assert_allclose(mean, MEAN, rtol=1e-5)
    np.testing.assert_allclose(std, STD, rtol=1e-5)


@pytest.mark.parametrize(
    "after",
    [
        [image**2 for image in SCALED],
        [image[..., ::-1] for image in SCALED],
        [image[1:] for image in SCALED],
        [0.0 * image for image in SCALED],
    ],
)
def test_what_is_no_normalisation_has_no_mean(after):
    assert normalization(SCALED, after) is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((STD, MEAN), "mean and standard deviation are exchanged"),
        ((MEAN[::-1], STD[::-1]), "both are those of the channels in reverse"),
        ((255 * MEAN, 255 * STD), "both are in levels of 255"),
        ((255 * MEAN, STD), "the mean is in levels of 255"),
        ((MEAN, 255 * STD), "the standard deviation is in levels of 255"),
        ((MEAN, STD / 255), "the standard deviation is a share of 255"),
        ((MEAN, STD**2), "the variance stands for the standard deviation"),
        ((0 * MEAN, STD), "the mean is not subtracted"),
        ((MEAN, np.ones(3)), "it is not divided by the standard deviation"),
        ((MEAN, STD, 255.0), UNSCALED),
        ((MEAN + 0.01, STD), "by mean 0.495 0.466 0.416, standard deviation 0.229 0.224 0.225"),
    ],
)
def test_where_a_wrong_normalisation_comes_from(arguments, said):
    got = normalization(SCALED, normalized(*arguments))
    assert misnormalized(got, (MEAN, STD)) == said


BATCH = np.stack([image / 255.0 for image in levels(6)]).transpose(0, 3, 1, 2)
OF_BATCHES = {
    "normalised once more, by mean 0.485 0.456 0.406, standard deviation 0.229 0.224 0.225": (
        lambda w: (w - MEAN[:, None, None]) / STD[:, None, None]
    ),
    "255 times as much: not divided by 255": lambda w: 255 * w,
    "the channels are reversed: BGR for RGB": lambda w: w[:, ::-1],
    "flipped left to right": lambda w: w[..., ::-1],
}


@pytest.mark.parametrize("phrase", OF_BATCHES)
def test_what_a_batch_has_more_or_less_is_told_in_either_layout(phrase):
    got = OF_BATCHES[phrase](BATCH)
    assert of_batch(got, BATCH) == phrase
    assert of_batch(got.transpose(0, 2, 3, 1), BATCH.transpose(0, 2, 3, 1)) == phrase
    bent = got + 1e-3 * got**2
    assert of_batch(bent, BATCH) is None


def test_of_rows_and_other_shapes_nothing_is_told():
    assert of_batch(BATCH[0], BATCH[0]) is None
    assert of_batch(BATCH[:2], BATCH) is None
