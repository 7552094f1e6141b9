"""What a comparison looked at: the decisions of both networks, and which of them a sample reached.

decision: what a decision is, what is known of it, and how several runs add up; loads no framework.
words: what people read of a decision that was not reached.
operators: the decisions that PyTorch's operators take, as splits of their elements.
observer: watches one run of the reference, which it does not change.
branches: which sides of a code's branches ran, and what its `min` and `max` chose.
sources: the branches of a source file, by its syntax, and the bounds that only the port has.
sizes: the decisions that a sample takes by its shapes and masks.
"""
