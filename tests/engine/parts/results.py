"""Lines of results, made up: what a page is made from."""


def tensor(case="relu-cpu", name="output.0", error=0.5, **fields):
    """The line of a tensor of a case; it is equal where its error is within the budget.

    error: in roundings; None where no number tells.
    """
    line = {"case": case, "twin": "relu", "device": "cpu", "seed": 0, "differs": None}
    line |= {
        "ill_posed": None,
        "unit": "roundings",
        "tensor": name,
        "equal": error is not None and error <= 16.0,
    }
    line |= {"error": error, "worst": error and error / 2, "budget": 16.0, "conditioning": 2.0}
    line |= {"reference_error": 0.25, "relative": 1e-7, "index": [0, 1], "candidate": 1.5}
    return line | {"truth": 1.0, "problem": None} | fields


def failure(case="relu-cpu", text="", **fields):
    """The line of a failed test of a case."""
    text = text or f"{case}: 1 of 1 tensors differ\nrepeat: pytest -k {case}"
    line = {"case": case, "twin": "relu", "device": "cpu", "seed": 0, "failure": text}
    return line | {"test": f"tests/test_twins.py::test_twin[{case}]"} | fields


def diagnosis(evil=""):
    """A diagnosis as data: a network of two layers, of which the second is to blame.

    evil: goes into every name and text.
    """
    block, last = f"block{evil}", f"block{evil}.last"
    tree = {"": "Net", block: "Block", f"{block}.first": "Conv2d", last: "Linear"}
    return {
        "trees": {"reference": tree, "candidate": tree | {f"extra{evil}": "ReLU"}},
        "layers": [
            [f"{block}.first", f"{block}.first", [0.5, 900.0, 1.5, 2.5]],
            [last, last, [3e4, 1e3, 3e4, "inf"]],
            [block, block, [3e4, 900.0, None, None]],
            ["", "", [3e4, 900.0, 3e4, 900.0]],
        ],
        "culprits": [
            {
                "reference": last,
                "candidate": last,
                "kind": f"Linear{evil}",
                "causes": [f"eps 1e-05 (reference) 0.0001 (candidate){evil}"],
                "statement": f"net_ms.py:7  return x / 2{evil}",
                "counterpart": f"net_pt.py:9  return x / 3{evil}",
            }
        ],
        "unfed": {block: f"it is called with more than tensors{evil}"},
        "notes": [f"stopped after 120 seconds{evil}"],
    }
