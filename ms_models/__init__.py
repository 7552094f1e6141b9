"""MindSpore cells under test, one file per family. Nothing here imports torch."""
