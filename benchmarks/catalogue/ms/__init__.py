"""MindSpore cells of the catalogue. Nothing here imports torch."""
