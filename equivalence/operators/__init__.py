"""Operators, checked over shapes, axes and values that Hypothesis draws.

`drawing` draws examples, `explore` compares them and shrinks a failing one, `compare` checks one
example and finds the shape of its errors.
"""
