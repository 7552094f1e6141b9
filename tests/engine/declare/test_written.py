"""A declaration that is written is the declaration that was compared."""

import pytest

from equivalence import Twin, given, integers, normal, uniform
from equivalence.declare.written import source

SIDES = {"reference": "nets:Net", "candidate": "ports:Net"}


def read(text):
    declared = {}
    exec(text, declared)
    return declared["TWINS"]


@pytest.mark.parametrize(
    "fields",
    [
        {"inputs": [normal(2, 3)]},
        {"inputs": [normal(2, 3, scale=0.5).constant(), integers(2, high=5), uniform(2)]},
        {"inputs": [normal(2)], "configs": ({"width": 8, "kind": 'a "b"', "sizes": (1, 2)},)},
        {"inputs": [normal(2)], "phases": ("eval",), "executions": ("graph",)},
        {"inputs": [normal(2)], "rename": {f"layer{i}.dense": f"layers.{i}.fc" for i in range(9)}},
        {"inputs": [normal(2)], "random_layers": ("DropPath",), "constants": ("mask",)},
        {"inputs": [normal(2)], "random_layers": "eval", "dtypes": ("float32", "float16")},
    ],
)
def test_what_is_written_is_read_as_the_same_declaration(fields):
    twin = Twin("net", **SIDES, **fields)
    assert read(source(twin)) == (twin,)


def test_a_folder_below_the_current_one_is_written_as_others_have_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sides = {"reference": f"{tmp_path}/pt//nets:Net", "candidate": "/elsewhere//ports:Net"}
    twin = Twin("net", **sides, inputs=[normal(2)])
    text = source(twin)
    assert 'reference="pt//nets:Net"' in text
    assert 'candidate="/elsewhere//ports:Net"' in text
    assert read(text) == (twin,)


def test_only_what_differs_from_the_defaults_is_written():
    assert source(Twin("net", **SIDES, inputs=[normal(2, 3)])).splitlines() == [
        '"""The declaration of net."""',
        "",
        "from equivalence import Twin, normal",
        "",
        "TWINS = (",
        "    Twin(",
        '        "net",',
        '        reference="nets:Net",',
        '        candidate="ports:Net",',
        "        inputs=(normal(2, 3),),",
        "    ),",
        ")",
    ]


def test_a_long_mapping_is_written_in_lines():
    rename = {f"layer{i}.dense": f"layers.{i}.fc" for i in range(9)}
    text = source(Twin("net", **SIDES, inputs=[normal(2)], rename=rename))
    assert max(map(len, text.splitlines())) <= 100
    assert '            "layer8.dense": "layers.8.fc",\n        },\n' in text


def test_nan_and_infinities_are_written_so_that_they_are_read():
    odd = Twin("odd", "a:B", "c:D", [given(2, values=(float("nan"), float("inf")))])
    module = {}
    exec(source(odd), module)
    assert str(module["TWINS"][0].inputs) == str(odd.inputs)
