"""page.js in a real browser: loaded, filtered, sorted, a case opened, without an error."""

import csv
from pathlib import Path

import pytest

from equivalence.page.write import framed, page
from tests.engine.parts.browser import picture, show
from tests.engine.parts.histories import history
from tests.engine.parts.results import diagnosis, failure, tensor

ROOT = Path(__file__).parents[3]

EVIL = '<img src=x onerror="window.evil=1"></script><script>window.evil=1</script>\'&amp;'
"""A name that would do harm if it were taken for HTML."""

RUN = [
    tensor("gelu-cpu", error=2.0),
    tensor("gelu-cpu", "gradient:input[0]", error=8.0),
    tensor("conv-cpu", error=4.0, excuses=["branch_flips"]),
    tensor("norm-gpu", error=3e4, device="gpu"),
    tensor("norm-gpu", "buffer:mean", error=0.0, device="gpu"),
    failure("norm-gpu", device="gpu", diagnosis=diagnosis()),
    failure("died-cpu", text="worker 'gw1' crashed"),
    tensor("known-cpu", error=1e3, differs="of the kernel", declared=1.0),
]

NAMES = """
const rows = () => [...document.querySelectorAll("button.case")].map((each) => each.textContent);
"""


PAST = history(
    **{"gelu-cpu": [1.0, 1.02, 8.0, 8.1], "conv-cpu": [4.0, 4.1], f"evil{EVIL}": [1.0, 9.0]}
)


@pytest.fixture
def opened(tmp_path):
    """Opens the page of a run in a browser, which must not complain."""

    def open_it(script, state="", run=RUN, *options):
        shown = show(tmp_path, page("a run", [run]), NAMES + script, state, *options)
        assert shown.complaints == []
        return shown.told

    return open_it


def test_a_complaint_of_a_script_is_seen(tmp_path):
    shown = show(tmp_path, page("a run", [RUN]), "setTimeout(() => nothing.at.all); return 1")
    assert shown.told == 1
    assert "ReferenceError: nothing is not defined" in shown.complaints[0]


def test_every_case_has_a_row_the_worst_first(opened):
    told = opened("""return [rows(), document.querySelector("#count").textContent,
        [...document.querySelectorAll("#cases td:nth-child(4)")].map((each) => each.textContent),
        document.querySelectorAll("#distribution svg rect").length > 3]""")
    names = ["died-cpu", "norm-gpu", "known-cpu", "conv-cpu", "gelu-cpu"]
    errors = ["not compared", "30,000 of 16", "as declared", "4 of 16", "8 of 16"]
    assert told == [names, "5 of 5 cases", errors, True]


def test_an_address_filters_and_sorts(opened):
    named = {
        "status=different": ["died-cpu", "norm-gpu"],
        "excuse=branch_flips": ["conv-cpu"],
        "device=gpu": ["norm-gpu"],
        "search=crashed+GW1": ["died-cpu"],
        "search=no+such+case": [],
        "sort=name": ["conv-cpu", "died-cpu", "gelu-cpu", "known-cpu", "norm-gpu"],
        "sort=-tensors&device=cpu": ["gelu-cpu", "known-cpu", "conv-cpu", "died-cpu"],
    }
    told = opened(
        """
        const told = [];
        for (const state of %s) {
          const changed = new Promise((done) => addEventListener("hashchange", done, {once: true}));
          location.hash = state;
          await changed;
          told.push(rows());
        }
        return told;
    """
        % [*named]
    )
    assert dict(zip(named, told, strict=True)) == named


def test_filters_and_headings_do_what_they_say_and_keep_it_in_the_address(opened):
    told = opened("""
        const search = document.forms[0].elements.search, told = [];
        search.value = "cpu";
        search.dispatchEvent(new Event("input"));
        told.push(rows().length);
        const name = document.querySelector("[data-sort=name]");
        name.click();
        told.push(rows()[0], name.parentElement.getAttribute("aria-sort"));
        name.click();
        told.push(rows()[0], name.parentElement.getAttribute("aria-sort"));
        document.querySelector("button[data-excuse]").click();
        told.push(rows(), document.forms[0].elements.excuse.value, location.hash);
        document.querySelector("button[data-status=different]").click();
        return [...told, rows()];
    """)
    address = "#sort=-name&search=cpu&excuse=branch_flips"
    expected = [4, "conv-cpu", "ascending", "known-cpu", "descending"]
    assert told == [*expected, ["conv-cpu"], "branch_flips", address, []]


def test_a_case_opens_with_all_that_is_known_of_it(opened):
    told = opened("""
        const button = document.querySelectorAll("button.case")[1];
        button.click();
        const detail = document.querySelector("td.detail");
        const text = (of) => [...detail.querySelectorAll(of)].map((each) => each.textContent);
        return {
          headings: text("h3"), repeat: text("code.repeat"), sides: text(".statements pre"),
          plots: text("svg path").length, layers: text(".layers td.name"),
          culprit: text(".layers .culprit td"),
          tensors: text(".scroll table:not(.layers) tbody tr"), pre: text("pre").at(-1),
          open: document.activeElement.getAttribute("aria-expanded"), hash: location.hash,
        };
    """)
    assert told["repeat"] == ["pytest -k norm-gpu"]
    assert told["headings"][:2] == ["Repeat it", "Culprit: block.last (Linear)"]
    assert told["sides"] == ["net_pt.py:9  return x / 3", "net_ms.py:7  return x / 2"]
    assert told["plots"] > 4
    theirs = ["(network) Net", "  block Block", "    first Conv2d", "    last Linear"]
    both = [name for name in theirs for _ in range(2)]
    assert told["layers"] == [*both, "  extra ReLU"]
    assert told["culprit"][1:5] == ["30,000", "1,000", "30,000", "inf"]
    assert told["tensors"][0].startswith("output.030,000")
    assert told["tensors"][0].endswith("at (0,1): candidate 1.5, truth 1")
    assert told["pre"].startswith("norm-gpu: 1 of 1 tensors differ")
    assert (told["open"], told["hash"]) == ("true", "#case=norm-gpu")


def test_a_place_to_mend_has_a_column_and_stands_there_once(opened):
    text = "DIFFERENT. {}.\nthe place to mend:\n  norm: eps is 1\nrepeat: x\ndetails:\n  no place"
    run = [tensor(name, error=3e4) for name in ("one", "two")]
    run += [failure(name, text=text.format(name)) for name in ("one", "two")]
    script = """
        const told = [...document.querySelectorAll("td.mend")].map((each) => each.textContent);
        document.querySelector("[data-sort=name]").click();
        document.querySelector("[data-sort=name]").click();
        told.push(document.querySelector("td.mend").textContent);
        document.querySelectorAll("button.case")[1].click();
        const cases = document.querySelector("#cases").getBoundingClientRect().top;
        return [told, document.querySelector("td.detail pre").textContent, cases < innerHeight];
    """
    told, answer, seen = opened(script, "", run)
    assert told == ["norm: eps is 1", "as one", "norm: eps is 1"]
    assert answer == text.format("one").partition("\ndetails:")[0]
    assert seen


def test_where_nothing_is_to_mend_there_is_no_column_of_it_and_no_alarm(opened):
    told = opened(
        """
        const seen = [...document.querySelectorAll("th.mend, td.mend")];
        const tile = document.querySelector("[data-status=different]");
        const colour = getComputedStyle(tile).borderLeftColor;
        const alarm = getComputedStyle(document.documentElement).getPropertyValue("--over");
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = alarm;
        return [seen.some((each) => each.offsetParent), tile.textContent,
            colour === getComputedStyle(probe).color];
        """,
        "",
        [tensor("gelu-cpu", error=2.0)],
    )
    assert told == [False, "0 different", False]


SIFTED = """
const left = () => [...document.querySelectorAll("tr[data-path]")].filter((each) => !each.hidden)
  .map((each) => each.dataset.path);
const sieve = () => document.querySelector(".sieve").elements;
"""


def test_layers_and_tensors_of_a_case_are_chosen_by_words_by_a_layer_or_by_their_error(opened):
    told = opened(
        SIFTED
        + """
        const told = [left()];
        sieve().within.value = "BLOCK la";
        sieve().within.dispatchEvent(new Event("input"));
        told.push(left(), location.hash);
        [...document.querySelectorAll("h3 .layer")][0].click();
        told.push(left(), sieve().within.value, document.querySelector("#sifted").textContent);
        document.querySelector(".layers .layer[title=block]").click();
        told.push(left());
        sieve().within.value = "";
        sieve().within.dispatchEvent(new Event("input"));
        sieve().over.click();
        return [...told, left(), location.hash];
        """,
        "case=norm-gpu",
    )
    every = ["", "block", "block.first", "block.last", "extra", "output.0", "buffer:mean"]
    assert told[0] == every
    assert told[1:3] == [["block.last"], "#case=norm-gpu&within=BLOCK+la"]
    assert told[3:6] == [["block.last"], "block.last", "1 of 7 rows"]
    assert told[6] == ["block", "block.first", "block.last"]
    assert told[7:] == [
        ["", "block", "block.first", "block.last", "output.0"],
        "#case=norm-gpu&over=1",
    ]


def test_an_address_leads_to_a_layer_of_a_case(opened):
    told = opened(SIFTED + "return left()", "case=norm-gpu&within=block.first")
    assert told == ["block.first"]


def test_what_is_shown_can_be_kept_as_csv(opened):
    told = opened(
        """
        const kept = [];
        const blobs = [];
        URL.createObjectURL = (blob) => { blobs.push(blob); return "#"; };
        HTMLAnchorElement.prototype.click = function () { kept.push(this.download); };
        for (const each of document.querySelectorAll(".sieve button, #csv button")) each.click();
        return [kept, await Promise.all(blobs.map((each) => each.text()))];
        """,
        "case=norm-gpu&status=different",
    )
    names, (cases, layers, tensors) = told
    assert names == ["cases.csv", "norm-gpu-layers.csv", "norm-gpu-tensors.csv"]
    read = [list(csv.reader(text.splitlines())) for text in (cases, layers, tensors)]
    assert [row[0] for row in read[0]] == ["case", "died-cpu", "norm-gpu"]
    assert read[0][2][3:5] == ["30000", "16"]
    assert ["block.last", "30000", "1000", "30000", "inf", "block.last"] in read[1]
    assert read[2][1][-1] == "at (0,1): candidate 1.5, truth 1"


def test_layers_of_one_cause_are_told_once(opened):
    found = diagnosis()
    (culprit,) = found["culprits"]
    found["culprits"] = [
        culprit,
        culprit | {"reference": "block.first", "candidate": "block.first"},
    ]
    run = [tensor("norm-gpu", error=3e4), failure("norm-gpu", diagnosis=found)]
    script = "return [...document.querySelectorAll('h3.over')].map((each) => each.textContent)"
    told = opened(script, "case=norm-gpu", run)
    assert told == ["Culprits, 2 of one cause: block.last, block.first (Linear)"]


def test_a_narrow_page_is_no_wider_than_its_window(opened):
    script = "return [innerWidth, document.documentElement.scrollWidth]"
    inner, whole = opened(script, "case=norm-gpu", RUN, "--window-size=420,1000")
    assert whole <= max(inner, 500)  # a headless window has a least width


def test_the_address_of_a_case_opens_it_and_a_second_click_closes_it(opened):
    told = opened(
        """
        const before = document.querySelectorAll("td.detail").length;
        document.querySelector("[aria-expanded=true]").click();
        return [before, document.querySelectorAll("td.detail").length, location.hash];
        """,
        "case=gelu-cpu",
    )
    assert told == [1, 0, ""]


def test_the_keyboard_reaches_all_that_can_be_clicked(opened):
    told = opened("""
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
        const focused = document.activeElement.name;
        const native = "button, input, select, summary";
        const all = "[data-sort], [data-status], [data-excuse], .case";
        const controls = [...document.querySelectorAll(all)];
        const reached = (each) => each.matches(native) && each.tabIndex === 0;
        return [focused, controls.length, controls.every(reached)];
    """)
    assert told == ["search", 15, True]


def test_errors_over_the_runs_are_small_lines_and_a_plot_in_a_case(tmp_path):
    run = [*RUN, tensor(f"evil{EVIL}", error=9.0)]
    shown = show(
        tmp_path,
        page("a run", [run], (), PAST),
        NAMES
        + """
        const cells = [...document.querySelectorAll("[data-trend]")];
        const lines = cells.map((each) => each.querySelectorAll("svg path").length);
        document.querySelector("[data-search=gelu-cpu]").click();
        const found = rows();
        document.querySelector("button.case").click();
        const detail = document.querySelector("td.detail");
        const heading = [...detail.querySelectorAll("h3")].map((each) => each.textContent);
        const ticks = [...detail.querySelectorAll("svg text")].map((each) => each.textContent);
        return [lines, found, heading, detail.querySelectorAll("svg circle").length,
            ticks.filter((each) => each.startsWith("2026")), window.evil ?? null,
            cells[0].firstChild.getAttribute("aria-label")];
        """,
    )
    assert shown.complaints == []
    lines, found, heading, dots, ticks, evil, told = shown.told
    assert lines == [1, 1]
    assert found == ["gelu-cpu"]
    assert heading[0] == "Over 4 runs: gelu-cpu, seed 0"
    assert dots == 4
    assert ticks == ["2026-11-01 02:17", "2026-11-04 02:17"]
    assert evil is None
    assert told == "From 1 on 2026-11-01 02:17 to 9 on 2026-11-02 02:17"


def test_names_are_text_wherever_they_stand(opened):
    case, layers = f"case{EVIL}", diagnosis(EVIL)
    run = [
        tensor(
            case,
            f"output{EVIL}",
            error=1e3,
            device=EVIL,
            settings={"layers": 1, "compared": 1, "differing": [EVIL]},
        ),
        failure(case, text=f"{EVIL}\nrepeat: {EVIL}", device=EVIL, diagnosis=layers),
        tensor("other", f"kind{EVIL}:x", problem=EVIL, equal=False, differs=EVIL),
    ]
    told = opened(
        """
        document.querySelectorAll("button.case")[1].click();
        const text = document.querySelector("td.detail").textContent;
        document.querySelector("[data-case=other]").click();
        await new Promise((done) => setTimeout(done, 500));
        return [rows(), text.split("<img").length > 9, window.evil ?? null,
            document.querySelectorAll("img").length];
        """,
        run=run,
    )
    assert told == [["other", case], True, None, 0]


def test_a_title_and_what_is_told_of_a_run_are_text(tmp_path):
    made = page(EVIL, [RUN], [EVIL])
    told = show(tmp_path, made, "return [document.title, window.evil ?? null]").told
    assert told == [EVIL, None]


@pytest.mark.parametrize("dark", [False, True])
def test_it_can_be_read_in_light_and_in_the_dark(opened, dark):
    told = opened(
        """
        const canvas = document.createElement("canvas").getContext("2d");
        const light = (name) => {
          canvas.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
          const parts = canvas.fillStyle.match(/\\w\\w/g).map((each) => parseInt(each, 16) / 255);
          const linear = parts.map((each) => ((each + 0.055) / 1.055) ** 2.4);
          return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
        };
        const ground = light("--ground");
        const contrast = (of) => (Math.max(of, ground) + 0.05) / (Math.min(of, ground) + 0.05);
        const names = ["--text", "--faint", "--within", "--over"];
        return [ground < 0.1, ...names.map((name) => contrast(light(name)))];
        """,
        "",
        RUN,
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
    )
    assert told[0] == dark
    assert min(told[1:]) > 4.5, "the contrast that WCAG asks for"


@pytest.mark.nightly
@pytest.mark.parametrize("dark", [False, True])
def test_pictures_are_kept_to_be_looked_at(tmp_path, dark):
    to = ROOT / "reports" / "page" / ("dark.png" if dark else "light.png")
    to.unlink(missing_ok=True)
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    picture(tmp_path, page("a run", [RUN]), to, "case=norm-gpu", scheme)
    assert to.read_bytes().startswith(b"\x89PNG")
    assert to.stat().st_size > 20_000, "an empty page is smaller"


def test_a_frame_in_a_notebook_works_though_it_may_not_reach_what_is_around_it(tmp_path):
    inner = page("a result", [RUN]).replace(
        "start();",
        "start().then(() => document.querySelector('.case').click())"
        ".then(() => parent.postMessage(document.querySelector('td.detail').textContent, '*'));",
    )
    hear = "addEventListener('message', (e) => document.documentElement.dataset.ready = e.data)"
    outer = f"<html><script>{hear}</script>{framed(inner)}"
    # Virtual time knows nothing of another process.
    within = "--disable-features=IsolateSandboxedIframes"
    for again in (True, True, True, False):  # virtual time may be over before the frame is there
        try:
            shown = show(
                tmp_path, outer, "return document.documentElement.dataset.ready", "", within
            )
            break
        except AssertionError:
            if not again:
                raise
    assert shown.complaints == []
    assert "worker 'gw1' crashed" in shown.told
