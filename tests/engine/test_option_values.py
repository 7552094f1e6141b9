"""What a text on the command line stands for."""

import argparse

import pytest

from equivalence.option_values import argument, assignment, byte_size, positive, share


def test_values_are_read():
    assert assignment("a=b=c") == ("a", "b=c")
    assert argument("width=[1, 2]") == ("width", [1, 2])
    assert argument("name=resnet") == ("name", "resnet")
    assert byte_size("500MB") == 500_000_000
    assert positive("3") == 3
    assert share("1") == 1.0


@pytest.mark.parametrize(
    ("read", "text", "complaint"),
    [
        (assignment, "a", "is not KEY=VALUE"),
        (argument, "a=1 b=2", "several KEY=VALUE in one word"),
        (byte_size, "5", "is no size; write 500MB or 5GB"),
        (positive, "0", "is not a positive number"),
        *(
            (share, each, "is no share; write one above 0")
            for each in ("0", "-1", "1.5", "nan", "")
        ),
        (share, "most", "is no share; write one above 0"),
    ],
)
def test_a_wrong_one_is_told(read, text, complaint):
    with pytest.raises(argparse.ArgumentTypeError, match=complaint):
        read(text)
