"""The edges of a graph that both sides have."""

EDGES = ((0, 1), (1, 2), (2, 0), (0, 2), (3, 1))
