"""Data pipelines, compared side by side over the same files. Imports no framework.

`compare` runs both pipelines and judges their batches. `diagnose` finds the first stage that
differs, by the shapes of error that `pictures` knows. `batches` feeds a twin with a pipeline's
batches. `laws` compares what draws, and `drawn` what draws beside the stages. `rows` explains rows
of tokens and text, and `explained` whatever a column holds. `trained` compares the loaders of two
trainings, of which the original's draw. `check` compares a pipeline on its own pictures and on
pictures of other kinds, which `encoded` draws, in a folder that `mirrored` makes.
"""
