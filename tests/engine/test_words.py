import os

import pytest

from equivalence.errors import words
from equivalence.words import all_of, counted, left, listed, nearest, raised, several, thrown


def test_all_are_named_where_there_is_room():
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed([]) == ""


def test_of_more_the_first_are_named_and_the_others_counted():
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert listed([4, 5], 1) == "4 and 1 more"


def test_the_most_similar_name_ends_a_sentence():
    assert nearest("conv1.wieght", iter(["bias", "conv1.weight"])) == "; nearest: conv1.weight"
    assert nearest("conv1.weight", ["x"]) == ""


def test_the_time_that_is_left_is_told_once_something_is_done():
    assert left(10.0, 0, 5) == ""
    assert left(10.0, 1, 5) == ", about 40 s left"
    assert left(60.0, 1, 5) == ", about 4 min left"
    assert left(10.0, 5, 5) == ""


@pytest.mark.parametrize(
    ("thing", "plural"),
    [
        ("loss", "losses"),
        ("order of samples", "orders of samples"),
        ("weight of all ranks", "weights of all ranks"),
        ("entry", "entries"),
        ("array", "arrays"),
        ("batch", "batches"),
        ("epoch", "epochs"),
    ],
)
def test_many_of_a_thing_have_its_plural(thing, plural):
    assert several(thing) == plural
    assert counted(2, thing) == f"2 {plural}"
    assert all_of(3, thing) == f"all 3 {plural} are"
    assert counted(1, thing) == f"1 {thing}"


RULE = "-" * 20
OF_A_DATA_SET = f"""Exception thrown from user defined Python function in dataset.

{RULE}
- Python Call Stack:
{RULE}
Traceback (most recent call last):
  File "/lib/mindspore/dataset.py", line 122, in _generator_fn
    for val in gen_iter:
  File "{__file__}", line 1, in rows
    raise OSError("shard 4 is not there")
OSError: shard 4 is not there

{RULE}
- Dataset Pipeline Error Message:
{RULE}
[ERROR] Execute user Python code failed, check 'Python Call Stack' above.
"""


def test_an_error_in_a_function_of_a_data_set_is_told_in_its_own_words_with_its_line():
    assert thrown(OF_A_DATA_SET) == ("OSError: shard 4 is not there", __file__, 1)
    assert thrown("Exception thrown\n- Python Call Stack:\nnone") == ("", "", 0)
    error = RuntimeError(OF_A_DATA_SET)
    assert raised(error) == f"OSError: shard 4 is not there ({os.path.relpath(__file__)}:1)"
    told = words(error)
    assert told.startswith(f"OSError: shard 4 is not there ({__file__}:1: ")
    assert told.endswith(", in a function of the data set")


def test_a_message_that_begins_with_a_heading_is_told_by_what_is_below_it():
    message = f"\n{RULE}\n- Kernel select failed:\n{RULE}\nSelect fails!\nIt has Float32.\nnode: x"
    assert raised(TypeError(message)) == "TypeError: Select fails! It has Float32."
    assert raised(AssertionError("")) == "AssertionError: "
