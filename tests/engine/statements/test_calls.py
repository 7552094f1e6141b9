import numpy as np

from equivalence.statements.calls import LARGE, Code, Effort, Recording


def test_tensors_of_the_same_content_are_one_value():
    run = Recording()
    one = run.value(np.ones((2, 3), np.float32))
    assert run.value(np.ones((2, 3), np.float32)) == one
    assert run.value(np.ones((3, 2), np.float32)) != one
    assert run.value(np.ones((2, 3), np.float64)) != one
    assert run.values[run.value(np.float32(2.0))].shape == ()


def test_a_value_is_of_the_first_call_that_gives_it_and_a_leaf_of_none():
    run, x, y = Recording(), np.arange(3.0), np.arange(3.0) + 1
    taken = run.take([x])
    run.add("add", taken, [y], None)
    run.add("copy", run.take([y]), [y], None)
    run.add("sub", run.take([y]), [x], None)
    assert run.producers == {run.value(y): 0}
    assert run.leaves == {run.value(x)}
    assert run.users(run.value(y)) == [1, 2]


class Layer:
    def __call__(self):
        return self.inner()

    def inner(self):
        return Code({"block.attention": self}).here()


def test_a_statement_is_a_line_of_the_users_own_code_with_its_layer_and_caller():
    found = Layer()()
    assert found.text == 'return Code({"block.attention": self}).here()'
    assert found.layer == "block.attention"
    assert found.place == f"test_calls.py:{found.line}"
    assert found.caller.place == f"test_calls.py:{found.line - 3}"
    assert found.direct


def test_effort_is_counted_in_calls_and_large_tensors_count_as_several():
    run, x = Recording(), np.ones((2, LARGE))
    run.add("add", run.take([x]), [x + 1], None)
    effort = Effort(limit=5.5)
    effort.add(len(run.calls), run.elements)
    assert effort.done == 5.0
    assert not effort.over
    effort.add(1, 0)
    assert effort.over
