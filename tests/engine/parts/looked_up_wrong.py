"""The module of numbers, of which a port has copied the last one wrongly."""

GUIDANCE = (1.0, 1.5, 2.0, 3.0, 5.4)
