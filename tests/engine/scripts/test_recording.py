"""What is recorded and what is handed on, with a side of arrays."""

from types import SimpleNamespace

import numpy as np
import pytest

from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.steps import ScriptNetwork, StoppedError
from equivalence.structure.slots import Slot


class Side:
    """A framework whose tensors are arrays."""

    def array(self, value):
        return np.array(value) if isinstance(value, np.ndarray) else None

    def like(self, values, value):
        return np.array(values, value.dtype)

    def weights(self, network):
        return network.weights

    def put(self, weight, values):
        weight[...] = values

    def network(self, network):
        slots = {name: Slot(w.shape, "parameter") for name, w in network.weights.items()}
        return ScriptNetwork("Net", slots, {}, [])

    def look(self, value):
        return value if isinstance(value, np.ndarray) else None

    def is_drawn(self, _):
        return False

    is_computed = is_drawn


def net(fill):
    return SimpleNamespace(weights={"w": np.full(3, fill)})


def one_step(recorder, network, x, gradient=1.0):
    """A step as a side tells of it; gives what the network was called with."""
    ((x,), _), call = recorder.enter(network, ((x,), {}), True, True)
    recorder.leave(call, x + network.weights["w"])
    recorder.loss(np.float32(x.sum()))
    weight = network.weights["w"]
    recorder.gradients({id(weight): np.full(3, gradient)}, accumulate=False)
    recorder.update(network, {id(weight): np.full(3, gradient)}, lambda _: {})
    weight -= 0.1
    recorder.updated()
    return x


def test_a_second_run_gets_weights_and_inputs_and_its_own_are_kept():
    first = RunRecorder(Side(), 1)
    one_step(first, net(1.0), np.ones(3))
    second = RunRecorder(Side(), 1, first.run)
    got = one_step(second, net(5.0), np.zeros(3))
    assert got.tolist() == [1.0, 1.0, 1.0]
    assert second.run.steps[0].calls[0].inputs[0].values.tolist() == [0.0, 0.0, 0.0]
    assert second.run.steps[0].weights["0:w"].values.tolist() == [0.9, 0.9, 0.9]


def test_inputs_that_are_the_same_stay_the_very_objects():
    first = RunRecorder(Side(), 1)
    one_step(first, net(1.0), np.ones(3))
    x = np.ones(3)
    assert one_step(RunRecorder(Side(), 1, first.run), net(1.0), x) is x


def test_inputs_of_another_shape_stay():
    first = RunRecorder(Side(), 1)
    one_step(first, net(1.0), np.ones((2, 3)))
    assert one_step(RunRecorder(Side(), 1, first.run), net(1.0), np.zeros(3)).tolist() == [0, 0, 0]


def test_the_run_ends_at_the_first_call_after_its_last_step():
    recorder, network = RunRecorder(Side(), 2), net(1.0)
    one_step(recorder, network, np.ones(3))
    one_step(recorder, network, np.ones(3))
    with pytest.raises(StoppedError):
        recorder.enter(network, ((np.ones(3),), {}), True, True)
    assert [step.number for step in recorder.run.steps] == [1, 2]


def test_gradients_are_divided_by_the_scale_of_the_loss():
    recorder, network = RunRecorder(Side(), 1), net(1.0)
    recorder.enter(network, ((np.ones(3),), {}), True, True)
    recorder.scaled(4.0)
    recorder.gradients({id(network.weights["w"]): np.full(3, 8.0)}, accumulate=True)
    recorder.gradients({id(network.weights["w"]): np.full(3, 8.0)}, accumulate=True)
    recorder.update(network, {id(network.weights["w"]): np.full(3, 4.0)}, lambda _: {})
    assert recorder.step.gradients["0:w"].values.tolist() == [4.0, 4.0, 4.0]


def test_calls_without_gradients_out_of_training_are_counted_and_not_kept():
    recorder, network = RunRecorder(Side(), 1), net(1.0)
    _, call = recorder.enter(network, ((np.ones(3),), {}), False, False)
    assert call is None
    assert (recorder.run.evaluations, recorder.step.calls) == (1, [])
    assert recorder.step.evaluated == {0}


@pytest.mark.parametrize("plays", [True, False])
def test_calls_without_gradients_in_training_are_kept_where_the_reference_makes_such(plays):
    def call(recorder, network, fill):
        ((x,), _), kept = recorder.enter(network, ((np.full(3, fill),), {}), False, True)
        if kept is not None:
            recorder.leave(kept, x)
        return x

    first, network = RunRecorder(Side(), 1), net(1.0)
    if plays:  # by its own policy, say
        call(first, network, 2.0)
    one_step(first, network, np.ones(3))
    second, network = RunRecorder(Side(), 1, first.run), net(1.0)
    assert call(second, network, 0.0).tolist() == [2.0 if plays else 0.0] * 3
    assert one_step(second, network, np.zeros(3)).tolist() == [1.0, 1.0, 1.0]
    assert (len(second.run.steps[0].calls), second.run.evaluations) == ((2, 0) if plays else (1, 1))


def test_draws_are_handed_on_once_each_by_law_and_shape():
    first = RunRecorder(Side(), 1)
    first.drawn("randn", np.full(2, 1.0))
    first.drawn("randn_like", np.full(2, 2.0))
    one_step(first, net(1.0), np.ones(3))
    second = RunRecorder(Side(), 1, first.run)
    assert second.drawn("normal", np.zeros(2)).tolist() == [1.0, 1.0]
    assert second.drawn("normal", np.zeros(2)).tolist() == [2.0, 2.0]
    one_step(second, net(1.0), np.ones(3))
    assert second.run.steps[0].replayed
    third = RunRecorder(Side(), 1, first.run)
    assert third.drawn("rand", np.zeros(2)).tolist() == [0.0, 0.0]
    one_step(third, net(1.0), np.ones(3))
    assert not third.run.steps[0].replayed
    assert "drawn by the port alone, and kept: uniform numbers, 2" in third.run.notes[0]


def test_draws_by_numpy_are_handed_on_where_their_numbers_are_the_same_and_others_are_told():
    first = RunRecorder(Side(), 1)
    first.drawn("integers (0.0, 9.0)", np.full(2, 4))
    one_step(first, net(1.0), np.ones(3))
    for law, given in (("integers (0.0, 9.0)", 4), ("randint", 4), ("integers (0.0, 5.0)", 0)):
        second = RunRecorder(Side(), 1, first.run)
        assert second.drawn(law, np.zeros(2)).tolist() == [given] * 2
        one_step(second, net(1.0), np.ones(3))
        assert second.run.steps[0].replayed  # of what NumPy draws nothing is left out
    told = "drawn by the port alone, and kept: integers numbers of NumPy or Python, 2"
    assert second.run.notes[0].startswith(told)


def test_an_order_that_the_port_does_not_draw_excuses_nothing():
    first = RunRecorder(Side(), 1)
    first.drawn("randperm", np.arange(2))
    one_step(first, net(1.0), np.ones(3))
    second = RunRecorder(Side(), 1, first.run)
    one_step(second, net(1.0), np.ones(3))
    assert second.run.steps[0].replayed


def test_what_cannot_be_looked_through_is_told():
    class Odd(Side):
        def look(self, _):
            raise RuntimeError("odd")

    recorder = RunRecorder(Odd(), 1)
    one_step(recorder, net(1.0), np.ones(3))
    assert recorder.run.notes == ["averages of weights could not be looked for: RuntimeError: odd"]


def test_gradients_that_overflow_are_none_of_the_sum_where_their_update_is_skipped():
    recorder, network = RunRecorder(Side(), 1), net(1.0)
    weight = network.weights["w"]
    recorder.enter(network, ((np.ones(3),), {}), True, True)
    recorder.gradients({id(weight): np.array([1.0, np.inf, 1.0])}, accumulate=True)
    recorder.gradients({id(weight): np.full(3, 2.0)}, accumulate=True)
    recorder.update(network, {id(weight): np.full(3, 2.0)}, lambda _: {})
    assert recorder.step.gradients["0:w"].values.tolist() == [2.0, 2.0, 2.0]
    assert recorder.step.overflows == 1


def test_gradients_that_overflow_stay_where_they_reach_the_optimiser():
    recorder, network = RunRecorder(Side(), 1), net(1.0)
    weight = network.weights["w"]
    recorder.enter(network, ((np.ones(3),), {}), True, True)
    recorder.gradients({id(weight): np.array([1.0, np.inf, 1.0])}, accumulate=True)
    recorder.update(network, {id(weight): np.array([1.0, np.inf, 1.0])}, lambda _: {})
    assert recorder.step.gradients["0:w"].undefined
    assert recorder.step.overflows == 0


def test_a_rank_may_keep_its_own_weights():
    first = RunRecorder(Side(), 1)
    one_step(first, net(1.0), np.ones(3))
    second = RunRecorder(Side(), 1, first.run)
    second.loads = False
    one_step(second, net(5.0), np.ones(3))
    assert second.run.steps[0].weights["0:w"].values.tolist() == [4.9, 4.9, 4.9]


def test_weights_that_other_ranks_send_are_those_before_the_next_step():
    for waits, expected in ((True, [7.0] * 3), (False, [0.9] * 3)):
        recorder, network = RunRecorder(Side(), 2), net(1.0)
        recorder.waits = waits
        one_step(recorder, network, np.ones(3))
        recorder.run.steps[0].reached.clear()  # this rank's optimiser had no gradient
        network.weights["w"][:] = 7.0
        recorder.settle()
        assert recorder.run.steps[0].weights["0:w"].values.tolist() == expected


def test_weights_that_no_gradient_reaches_are_those_before_the_next_step_where_ranks_send_them():
    recorder, network = RunRecorder(Side(), 1), net(1.0)
    recorder.waits = True
    one_step(recorder, network, np.ones(3), gradient=0.0)
    network.weights["w"][...] = 7.0
    recorder.settle()
    assert recorder.run.steps[0].weights["0:w"].values.tolist() == [7.0, 7.0, 7.0]
