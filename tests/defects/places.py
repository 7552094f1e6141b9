"""Where a defect is put: other cases of the same twin, and the culprit of a single operator."""

WHOLE = ("",)
UPDATE = ("update",)
"""Of a training step, what is left of it when its network is right."""
LOSS = ("loss",)
"""The layer of a network with its loss; or else the loss that a step returns."""

# Twins of which several families choose the same case.
IDENTITY = {"twin": "basic_block", "where": {"planes": 32, "stride": 1}}
PROJECTED = {"twin": "basic_block", "where": {"planes": 64, "stride": 2}}
BOTTLENECK = {"twin": "bottleneck", "where": {"inplanes": 64, "stride": 2}}
RESNET18 = {"twin": "resnet", "where": {"depth": 18}}
RESNET50 = {"twin": "resnet", "where": {"depth": 50}}


def compiled(family: dict) -> dict:
    """In graph mode."""
    return {**family, "where": {**family["where"], "execution": "graph"}}


def in_half(family: dict) -> dict:
    """In half precision."""
    return {**family, "where": {**family["where"], "dtype": "float16"}}


def evaluated(family: dict) -> dict:
    """In the evaluation phase."""
    return {**family, "where": {**family["where"], "phase": "eval"}}
