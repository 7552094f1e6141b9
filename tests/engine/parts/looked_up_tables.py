"""Numbers of a module of its own, which both sides may import."""

GUIDANCE = (1.0, 1.5, 2.0, 3.0, 4.5)


def guidance(step: int) -> float:
    """How strong the guidance of a step is."""
    return GUIDANCE[step]
