"""Distributions of errors: counts that add up, and a drawing that shows what is over budget."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.distribution import Tally, draw


def tally(*errors):
    made = Tally()
    for error in errors:
        made.add(error, f"{error}")
    return made


def test_shares_are_exact_at_the_edges_of_bins():
    survival = dict(tally(0.0, 1.0, 15.99, 16.0, 17.0, np.inf).survival())
    assert survival[16.0] == 3 / 6
    assert survival[1.0] == 5 / 6
    assert max(survival) < 17.0


def test_tallies_add_up_and_survive_the_journal():
    one, two = tally(0.0, 0.3, 2.0), tally(5.0, np.inf)
    one.merge(Tally.from_json(json.loads(json.dumps(two.to_json(), allow_nan=False))))
    assert one == tally(0.0, 0.3, 2.0, 5.0, np.inf)
    assert one.worst == (5.0, "5.0")
    assert one.total == 5


def test_a_quantile_bounds_its_share_by_one_bin():
    errors = np.random.default_rng(0).lognormal(size=1000)
    for share in (0.5, 0.99, 1.0):
        exact = np.quantile(errors, share, method="inverted_cdf")
        assert exact <= tally(*errors).quantile(share) <= exact * 2 ** (1 / 8)
    assert tally(0.0, 0.0, 1.5).quantile(0.5) == 0.0
    assert tally(1.0, np.inf).quantile(1.0) == np.inf


def test_mistakes_are_drawn_beside_by_the_share_with_at_most_their_error():
    kinds = {"output, float32": tally(0.5, 2.0)}
    svg = draw(kinds, "A", "b", 8.0, mistakes=tally(12.0, 100.0, 1e9, np.inf))
    picture = ElementTree.fromstring(svg)
    (line,) = (each for each in picture.iter(f"{SVG}polyline") if "wrong" in each.get("class"))
    assert len(line.get("points").split()) == 2
    words = {text.text for text in picture.iter(f"{SVG}text")}
    assert {"mistakes, at most this error", "4 wrong ports, from 11 on"} <= words


def drawn(**tallies):
    kinds = {f"{name}, float32": made for name, made in tallies.items()}
    return ElementTree.fromstring(draw(kinds, "A <title>", "and & more", budget=16.0))


SVG = "{http://www.w3.org/2000/svg}"


def curve(picture):
    (line,) = picture.iter(f"{SVG}polyline")
    return [tuple(map(float, point.split(","))) for point in line.get("points").split()]


def test_a_drawing_tells_what_it_shows():
    words = [t.text for t in drawn(output=tally(0.5, 2.0)).iter(f"{SVG}text")]
    assert {"A <title>", "and & more", "budget 16", "output, float32"} <= set(words)
    assert {"error of the candidate, in roundings", "tensors with at least this error"} < set(words)
    assert "2 tensors, worst 2" in words
    assert {"1/32", "1", "16", "32", "100 %", "10 %"} <= set(words)


def test_a_drawing_refers_to_nothing_outside():
    text = draw({"output, float32": tally(0.5)}, "title", "more", 16.0)
    assert "href" not in text
    assert text.count("http") == 1  # the name of SVG itself
    assert 'class="paper"' in text
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize(("error", "beyond"), [(15.9, False), (16.1, True)])
def test_what_is_over_budget_is_drawn_beyond_its_line(error, beyond):
    picture = drawn(output=tally(0.5, error))
    (budget,) = [line for line in picture.iter(f"{SVG}line") if line.get("class") == "budget"]
    assert (max(x for x, _ in curve(picture)) > float(budget.get("x1"))) is beyond


def test_what_is_infinitely_wrong_never_ends_and_what_is_exact_never_begins():
    assert curve(drawn(output=tally(0.0, 0.0))) == []
    right = max(x for x, _ in curve(drawn(output=tally(1.0, np.inf))))
    assert right == max(x for x, _ in curve(drawn(output=tally(np.inf))))
    assert right > max(x for x, _ in curve(drawn(output=tally(1.0, 31.0))))
