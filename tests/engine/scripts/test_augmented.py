"""Two trainings whose loaders draw: the port gets the original's batches where it reads its own."""

import pytest

from equivalence.scripts.text import lines

PAIR = "augmented"

OWN_CODE = (
    (
        "return self.transform(Image.fromarray(self.images[index])), int(self.labels[index])",
        "image = torch.from_numpy(self.images[index]) / 255.0\n"
        "        if torch.rand(()) < 0.5:\n"
        "            image = image.flip(1)\n"
        "        return image.permute(2, 0, 1), int(self.labels[index])",
    ),
    ("Photos(augment)", "Photos(None)"),
)
"""A data set of the original that draws in its own code."""

OWN_PORT = (
    (
        "return self.images[index], self.labels[index]",
        'image = self.images[index].astype("float32") / 255\n'
        "        if np.random.rand() < 0.5:\n"
        "            image = image[:, ::-1]\n"
        "        return np.ascontiguousarray(image.transpose(2, 0, 1)), self.labels[index]",
    ),
    ('.map(augment, "image")', ""),
    (
        '["image", "label"], shuffle=True)',
        '["image", "label"], shuffle=True, num_parallel_workers=1)',
    ),
)

MIXED = (
    (
        "loader = DataLoader(",
        "def mixed(rows):\n"
        "    images = torch.stack([image for image, _ in rows])\n"
        "    labels = torch.tensor([label for _, label in rows])\n"
        "    share = torch.distributions.Beta(0.5, 0.5).sample()\n"
        "    return share * images + (1 - share) * images.flip(0), labels\n\n\n"
        "loader = DataLoader(collate_fn=mixed, dataset=",
    ),
)
"""Pictures that are mixed where batches are made."""


def mixing(words):
    """The edits of a port that mixes by a share, which `words` draws."""
    return (
        (
            "data = data.map(",
            "def mixed(images, labels, info):\n"
            f"    share = {words}\n"
            "    images = np.stack(images)\n"
            "    both = share * images + (1 - share) * images[::-1]\n"
            '    return [*both.astype("float32")], labels\n\n\n'
            "data = data.map(",
        ),
        ("drop_remainder=True)", "drop_remainder=True, per_batch_map=mixed)"),
    )


RIGHT = {
    "a data set that draws in its own code": (OWN_CODE, OWN_PORT),
    "batches that are mixed": (MIXED, mixing("np.random.beta(0.5, 0.5)")),
    "channels last": (
        (),
        (
            ("is_hwc=False),", "is_hwc=False),\n    lambda image: image.transpose(1, 2, 0),"),
            ("images = images * 0.5", "images = images.transpose(0, 3, 1, 2) * 0.5"),
        ),
    ),
    "rows as dicts of arrays": (
        (),
        (
            ("create_tuple_iterator(num_epochs=2)", "create_dict_iterator(2, output_numpy=True)"),
            ("for images, labels in rows:", "for row in rows:"),
            (
                "images = images * 0.5",
                'images, labels = (ms.Tensor(row[name]) for name in ("image", "label"))\n'
                "        images = images * 0.5",
            ),
        ),
    ),
}
"""Name -> edits of the original and of the port, which stays right."""


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_port_is_equal(compared, name):
    reference, port = RIGHT[name]
    result = compared(PAIR, *port, reference=reference, steps=4)
    assert result, lines(result)
    assert [each.drawn for each in result.theirs.readings] == [["0"]]
    told = "\n".join(lines(result))
    assert "draw column 0 of the original's batches: the port gets 5 batches" in told


WRONG = {
    "the mean is in BGR": ((), (("(0.49, 0.48, 0.45)", "(0.45, 0.48, 0.49)"),), "Normalize"),
    "own code flips up and down": (
        OWN_CODE,
        (*OWN_PORT, ("image[:, ::-1]", "image[::-1]")),
        "Photos",
    ),
    "the share is drawn by another law": (MIXED, mixing("np.random.beta(5, 5)"), "mixed"),
    "labels are those of the samples beside": (
        (),
        (("self.labels[index]", "self.labels[index - 1]"),),
        "label",
    ),
}
"""Name -> edits of both sides, and what is to blame."""


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_loader_is_told_by_its_stage(compared, name):
    reference, port, stage = WRONG[name]
    result = compared(PAIR, *port, reference=reference, steps=2)
    first = result.verdict.departures[0]
    assert not result
    assert (first.step, first.stage, first.name) == (1, "data", f"loader, {stage}:"), lines(result)
    assert "for images, labels in rows" in first.line or "create_tuple_iterator" in first.line
    assert "for images, labels in loader" in first.of_reference


def test_columns_that_do_not_fit_are_told_and_stay_red(compared):
    whole = (
        ("    vision.ToTensor(),\n", ""),
        ("    vision.Normalize((0.49, 0.48, 0.45), (0.25, 0.24, 0.26), is_hwc=False),\n", ""),
        ("images = images * 0.5", "images = images.transpose(0, 3, 1, 2) / 510"),
    )
    result = compared(PAIR, *whole, steps=1)
    assert not result
    assert any("not handed over: column 0 is float32 8x3x12x12" in n for n in result.ours.notes)


def test_a_port_that_draws_where_the_original_does_not_is_red(compared):
    still = [
        (f"        transforms.{each},\n", "")
        for each in (
            "RandomCrop(12, padding=2)",
            "RandomHorizontalFlip()",
            "ColorJitter(0.4, 0.4, 0.4)",
        )
    ]
    result = compared(PAIR, reference=still, steps=1)
    first = result.verdict.departures[0]
    assert (first.step, first.stage, first.name) == (1, "data", "input 0")
