"""Names of what passes through layers: calls, structures, and what cannot be read."""

import numpy as np

from equivalence.dumps.passing import Passing


class Side:
    """A side whose tensors are arrays in a list; no gradient comes by itself."""

    def array(self, value):
        if value == "unreadable":
            raise RuntimeError("it has no storage\nat all")
        return None if isinstance(value, str) else np.array(value)

    def watch(self, *_):
        pass


def passing():
    put = {}
    found = Passing(Side(), lambda name, values: put.update({name: values}))
    found.begin(True)
    return found, put


def test_calls_are_numbered_and_structures_named():
    found, put = passing()
    found.enter("", (X,), {"mask": (X, X)})
    for _ in range(2):
        found.enter("fc", (X,), {})
        found.leave("fc", X)
    found.leave("", {"logits": X, "hidden": (X, "text")})
    assert [*put] == [
        *("forward.0.input.0", "forward.0.input.mask.0", "forward.0.input.mask.1"),
        *("fc/forward.0.input.0", "fc/forward.0.output.0"),
        *("fc/forward.1.input.0", "fc/forward.1.output.0"),
        *("forward.0.output.logits", "forward.0.output.hidden.0"),
    ]


def test_a_layer_that_raised_leaves_no_trace_in_the_names():
    found, put = passing()
    found.enter("a", (X,), {})
    found.enter("b", (X,), {})
    found.leave("a", X)
    found.enter("b", (X,), {})
    found.leave("b", X)
    assert [name for name in put if "output" in name] == [
        *("a/forward.0.output.0", "b/forward.1.output.0"),
    ]


def test_gradients_of_weights_are_summed_and_come_in_the_order_of_the_weights():
    found, put = passing()
    for name in ("b", "a", "b"):
        found.gradient(name, X)
    found.end([("a", X), ("b", X)])
    assert [*put] == ["gradients/a", "gradients/b", "weights/a", "weights/b"]
    assert np.array_equal(put["gradients/b"], 2 * X)


def test_what_cannot_be_read_is_counted():
    found, put = passing()
    found.record("x", "unreadable")
    found.record("y", "unreadable")
    assert not put
    assert found.told() == ["not readable (RuntimeError: it has no storage): 2 times, first x"]


X = np.ones(2)
