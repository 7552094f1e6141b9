"""Operators, checked over shapes, axes and values that Hypothesis draws.

`drawing` draws examples, `decisions` tells what each takes, and chooses the gate's. `explore`
compares them and shrinks a failing one, `compare` checks one example and finds the shape of its
errors.
"""
