"""A network as an argument: what it is, and how the command line writes it."""

import pytest

from equivalence import DeclarationError, network
from equivalence.declare.network import read_network


def test_a_network_is_written_as_the_call_that_makes_it():
    made = network("nets:Net", "ports:Net", width=8)
    assert repr(made) == "network('nets:Net', 'ports:Net', width=8)"
    assert read_network(repr(made)) == made
    assert str(made) == "Net_width8"


@pytest.mark.parametrize(
    "text", ["network(nets:Net, ports:Net, width=8)", "network('nets:Net','ports:Net',width=8)"]
)
def test_the_command_line_may_leave_out_the_quotes(text):
    assert read_network(text) == network("nets:Net", "ports:Net", width=8)


@pytest.mark.parametrize(
    "text", ["network(nets:Net ports:Net)", "network(nets:Net)", "network(", "network(f(), 'a:b')"]
)
def test_a_text_that_is_no_network_is_told_how_to_write_one(text):
    with pytest.raises(DeclarationError, match="write network"):
        read_network(text)


def test_a_target_that_is_none_is_named():
    with pytest.raises(DeclarationError, match="reference 'nets' is not 'module:attribute'"):
        network("nets", "ports:Net")


def test_the_folders_of_both_sides_are_put_before_the_targets():
    made = network("nets:Net", "nets:Net").below("/theirs", None)
    assert (made.reference, made.candidate) == ("/theirs//nets:Net", "nets:Net")
