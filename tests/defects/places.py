"""Where a defect is put: other cases of the same twin, and the culprit of a single operator."""

WHOLE = ("",)


def compiled(family: dict) -> dict:
    """In graph mode."""
    return {**family, "where": {**family["where"], "execution": "graph"}}


def in_half(family: dict) -> dict:
    """In half precision."""
    return {**family, "where": {**family["where"], "dtype": "float16"}}


def evaluated(family: dict) -> dict:
    """In the evaluation phase."""
    return {**family, "where": {**family["where"], "phase": "eval"}}
