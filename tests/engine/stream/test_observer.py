"""An observer that overrides nothing changes nothing."""

import pytest

from equivalence.stream.observer import RUN, Observer, deliver, demand_order, hooks


class Call:
    args = (2, 3)
    name = "add"

    def proceed(self):
        return sum(self.args)


class First(Observer):
    slot, order = "first", ("first", "second")


class Second(First):
    slot = "second"


class Instead(First):
    def before(self, call):
        call.args = (20, *call.args[1:])

    def after(self, _, result):
        return -result


def test_a_call_goes_through_what_is_overridden():
    assert deliver(Call(), hooks(First())) == 5
    assert deliver(Call(), hooks(Instead())) == -23


def test_what_is_replaced_does_not_run_and_none_is_a_result():
    class Nothing(First):
        def replace(self, call):
            return None if call.name == "add" else RUN

    assert deliver(Call(), hooks(Nothing())) is None


def test_one_that_comes_later_must_be_opened_before():
    demand_order(First(), None)
    demand_order(First(), Second())
    demand_order(First(), First())
    with pytest.raises(RuntimeError, match=r"Second \(second\) is opened inside First \(first\)"):
        demand_order(Second(), First())


def test_a_slot_that_no_order_has_is_an_error():
    class Lost(First):
        slot = "nowhere"

    with pytest.raises(ValueError, match="nowhere"):
        _ = Lost().rank


def test_what_tells_it_is_the_frameworks():
    with pytest.raises(NotImplementedError), First():
        pass
