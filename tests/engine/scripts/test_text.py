"""All that is said of a result, as text and as JSON."""

import json
from dataclasses import replace

import numpy as np

from equivalence.judge.settings import SettingDifference, Settings
from equivalence.scripts.compare import TrainingsResult
from equivalence.scripts.judging import TRAINED, Expectation
from equivalence.scripts.layers import LayerCulprit
from equivalence.scripts.looks import Fits
from equivalence.scripts.overflow import Overflow
from equivalence.scripts.single import Float32Trials
from equivalence.scripts.text import document, lines
from tests.engine.scripts.test_judging import CHANGES, run


def result(change=None, steps=1, culprit=None):
    plain, ours = run(), run(change)
    expectation = Expectation(plain)
    verdict = expectation.judge(ours)
    return TrainingsResult("t.py", "m.py", steps, 2, plain, ours, verdict, {}, expectation, culprit)


def test_a_right_port_is_equal_with_its_largest_error():
    told = lines(result())
    assert told[0].startswith("EQUAL. m.py trains as t.py does in 1 step: 8 tensors are off by at")
    assert "compared 8 tensors of 1 step and 1 network (Net), with 2 noisy runs" in told[2]


def test_the_first_departure_is_told_with_both_lines_and_the_other_stages():
    def both(step):
        CHANGES["schedule"](step)
        CHANGES["update"](step)

    told = lines(result(both))
    assert told[:4] == [
        "DIFFERENT. m.py departs from t.py in step 1:",
        "  schedule: lr is 0.2, and 0.1 in the original",
        "    port: train.py:1",
        "    original: train.py:1",
    ]
    assert told[4].startswith("  also update: fc.weight is off by")


def test_data_alone_is_told_to_be_all_and_with_more_it_is_not():
    words = "  with the original's batches all else agrees"
    assert words in lines(result(CHANGES["data"]))

    def both(step):
        CHANGES["data"](step)
        CHANGES["update"](step)

    assert words not in lines(result(both))


def test_the_layer_has_its_own_lines():
    told = lines(
        result(CHANGES["forward"], culprit=LayerCulprit("fc (Linear)", "m.py:7", "t.py:8"))
    )
    assert told[2:5] == ["    first in fc (Linear)", "    port: m.py:7", "    original: t.py:8"]


def test_layers_that_differ_alike_are_told_once():
    differing = [
        SettingDifference("eps", "1e-05", "1e-07", layer=f"bn{each}", kind="B") for each in "123"
    ]
    differing[2] = replace(differing[2], candidate="1e-06")
    told = lines(replace(result(), settings={"Net": Settings(3, 9, tuple(differing))}))
    assert told[1:4] == [
        "  layers bn1, bn2 (B): eps is 1e-07 in the port and 1e-05 in the original",
        "  layer bn3 (B): eps is 1e-06 in the port and 1e-05 in the original",
        "settings of layers: 3 of 9 differ",
    ]


def test_a_setting_that_follows_from_the_mode_of_its_network_is_told_without_an_argument():
    each = SettingDifference("batch_statistics", "never", "in training", write="statistics=False")
    settings = {"Net": Settings(1, 1, (each,))}
    assert "write statistics=False" in "\n".join(lines(replace(result(), settings=settings)))
    found = result(CHANGES["forward"])
    found.verdict.departures[0] = replace(found.verdict.departures[0], name="Net", told=TRAINED)
    assert "write statistics" not in "\n".join(lines(replace(found, settings=settings)))


def test_what_is_known_of_a_setting_is_told_beside_another_departure():
    def both(step):
        CHANGES["forward"](step)
        step.kind = "mindspore.nn.optim.sgd.SGD"
        step.settings["weight_decay"] = {"0:fc.weight": 0.0}

    plain, ours = run(), run(both)
    plain.steps[0].settings["weight_decay"] = {"0:fc.weight": 0.1}
    verdict = Expectation(plain).judge(ours)
    told = lines(replace(result(), theirs=plain, ours=ours, verdict=verdict))
    where = next(
        i for i, line in enumerate(told) if line.startswith("  also settings: weight_decay")
    )
    assert "leaves gamma and beta out of its decay" in told[where + 1]


def test_what_is_not_seen_and_a_script_that_ends_early_are_told():
    def unseen(step):
        step.gradients, step.reached = {}, {}

    told = lines(result(unseen, steps=5))
    assert "the original's script ends after 1 step" in told
    assert any(line.startswith("not seen in the port, and not compared: grad") for line in told)


def test_calls_in_evaluation_are_counted_and_not_compared():
    made = result()
    assert not any("evaluation" in line for line in lines(made))
    made.ours.evaluations = 3
    told = "not compared: calls of networks in evaluation, 0 in the original, 3 in the port"
    assert told in lines(made)


def test_all_of_it_is_json():
    made = json.loads(json.dumps(document(result(CHANGES["loss"]))))
    assert made["equal"] is False
    assert made["departures"][0]["stage"] == "loss"
    assert np.allclose(made["losses"], [[[2.5]], [[2.6]]])


def test_where_numbers_overflow_and_what_to_keep_in_float32_is_told_and_written():
    both = result(CHANGES["forward"])
    overflow = Overflow("exp gives infinity in float16 in act", "m.py:3: ops.exp(x)")
    changed = replace(
        both,
        overflows={"candidate": (1, overflow), "reference": (2, Overflow("no operator was seen"))},
        kept=Float32Trials(("act", "norm._backbone"), 5, 7),
    )
    told = lines(changed)
    assert (
        "  NaN or infinity in the port from step 1 on: exp gives infinity in float16 in act" in told
    )
    assert "    port: m.py:3: ops.exp(x)" in told
    assert "  NaN or infinity in the original from step 2 on: no operator was seen" in told
    found = "(2 of 5 layers in half precision, 7 trials): act, norm"
    assert any(line.endswith(found) for line in told)
    assert "    write net.act.to_float(mindspore.float32), and so on" in told
    written = document(changed)
    assert written["float32"] == ["act", "norm._backbone"]
    assert written["overflows"]["candidate"]["step"] == 1
    unsure = lines(replace(changed, kept=Float32Trials(("act",), 5, 7, smallest=False)))
    assert any("fewer may do" in line for line in unsure)
    assert not any("write net." in line for line in unsure)


def test_what_could_not_be_tried_is_told():
    wrong = result(CHANGES["forward"])
    told = lines(replace(wrong, fits=Fits((), tried=12, failed=2, left=3)))
    tried = "  fits: none of 10 mistakes that were tried"
    assert f"{tried}; 2 could not run in the original; 3 had no time left" in told
    none = lines(replace(wrong, kept=Float32Trials((), 5, 1, failed=1, why="it raises")))
    assert (
        "  which layers to keep in float32 was not found by trying: 1 trial, of which 1 could not "
        "run: it raises" in none
    )
    some = lines(replace(wrong, kept=Float32Trials(("act",), 5, 7, failed=2, why="it raises")))
    assert any("7 trials, of which 2 could not run: it raises): act" in line for line in some)
