"""Declares pipelines in few words, and the sizes that several families share."""

from typing import Any

from equivalence.declare.pipeline import Pipeline

DECLARES_NOTHING = True

SMALL = {"resize": 32, "crop": 27, "batch_size": 4}
FEW = {"batch_size": 8, "num_samples": 30}


def beside(name: str, reference: str, candidate: str, files: str, **options: Any) -> Pipeline:
    """Functions of the two `data` modules over files of `tests.image_files`."""
    return Pipeline(
        name,
        reference=f"pt_reference.data:{reference}",
        candidate=f"ms_models.data:{candidate}",
        files=f"tests.image_files:{files}",
        **options,
    )
