"""Checkpoint files of both frameworks, as arrays by name. Frameworks are imported late.

`files` reads and writes a checkpoint, whatever its format. `formats` holds what a file gives. The
formats are in `torch_files`, `mindspore_files` and `safetensors_files`; `shards` has checkpoints of
several files. No content is executed, and values stay in the file until they are used.
"""
