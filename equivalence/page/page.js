// The table of cases: filtered, sorted, and each case opened, by state that the address keeps.
// What is shown is always made as text, never as HTML: names come from whoever declared them.
"use strict";

const STATUSES = ["different", "known difference", "excused", "equal"];
const ROWS = 200; // rows at first; a browser is slow with thousands
const LEAST = 0.01; // roundings; a smaller error is drawn as this one
const CHOICES = ["search", "status", "excuse", "device"];

let found = { cases: [], bins: [], budget: 16, runs: [], trends: {} };
let state = { sort: "", search: "", status: "", excuse: "", device: "", case: "" };
let every = false; // whether all rows are shown

const $ = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

function table(titles, rows, name = "") {
  const heads = titles.map((title, i) => make("th", { class: i ? "figure" : "" }, title));
  return make("table", { class: name }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
}

// Figures. An infinite error is the text "inf", as JSON has none.

const value = (figure) => (figure === "inf" ? Infinity : figure);

function number(figure) {
  if (figure === null || figure === undefined) return "-";
  const error = value(figure);
  if (!Number.isFinite(error)) return "inf";
  const [, digits, power] = /^(.*)e(.*)$/.exec(error.toExponential(1));
  if (error !== 0 && (error < 1e-4 || error >= 1e6)) return `${Number(digits)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  return Number(error.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 8 });
}

const exact = (figure) => (typeof figure === "number" ? Number(figure.toPrecision(9)) : figure);

// The decades alone are written beside an axis.
const tick = (figure) => (Number.isInteger(Math.round(1e6 * Math.log10(figure)) / 1e6) ? (figure >= 1e4 ? figure.toExponential(0).replace("e+", "e") : String(figure)) : "");

const drawn = (figure) => Math.min(Math.max(value(figure), LEAST), 1e12);

// The share of its budget that a case needs; one that was not compared at all comes first.
const share = (each) => (each.needed === undefined ? (each.status === STATUSES[0] ? Infinity : -1) : value(each.needed) / (each.budget || 1));

// State: what the address says after the #.

function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(state)) state[key] = given.get(key) ?? "";
}

function change(changes) {
  Object.assign(state, changes);
  const told = new URLSearchParams(Object.entries(state).filter(([, text]) => text));
  try {
    history.replaceState(null, "", `#${told}`);
  } catch {
    // Within a notebook the page has no address of its own.
  }
  show();
}

const KEYS = {
  name: (each) => each.name,
  status: (each) => STATUSES.indexOf(each.status),
  margin: share,
  largest: (each) => each.largest ?? "",
  tensors: (each) => each.tensors?.length ?? 0,
};

function chosen() {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const cases = found.cases.filter(
    (each) =>
      (!state.status || each.status === state.status) &&
      (!state.excuse || each.excuses?.includes(state.excuse)) &&
      (!state.device || each.device === state.device) &&
      words.every((word) => each.words.includes(word)),
  );
  const [key, down] = state.sort.startsWith("-") ? [state.sort.slice(1), -1] : [state.sort, 1];
  const worst = (a, b) => KEYS.status(a) - KEYS.status(b) || share(b) - share(a) || 0;
  const of = KEYS[key];
  if (!of) return cases.sort(worst);
  return cases.sort((a, b) => (of(a) < of(b) ? -down : of(a) > of(b) ? down : worst(a, b)));
}

// The table.

function show() {
  const cases = chosen();
  const shown = every ? cases : cases.slice(0, ROWS);
  const open = cases.find((each) => each.id === state.case);
  if (open && !shown.includes(open)) shown.push(open);
  $("cases").tBodies[0].replaceChildren(...shown.flatMap(row));
  centre(document.querySelector(".layers .culprit"));
  $("count").textContent = `${cases.length} of ${found.cases.length} cases`;
  $("more").hidden = shown.length === cases.length;
  $("more").textContent = `show all ${cases.length} cases`;
  for (const name of CHOICES) {
    const field = $("filters").elements[name];
    if (field && field.value !== state[name]) field.value = state[name];
  }
  for (const button of document.querySelectorAll("[data-sort]")) {
    const key = button.dataset.sort;
    const order = { [key]: "ascending", [`-${key}`]: "descending" }[state.sort];
    if (order) button.parentElement.setAttribute("aria-sort", order);
    else button.parentElement.removeAttribute("aria-sort");
  }
}

// Move a row of a long table to the middle of what is seen of the table.
function centre(line) {
  const box = line?.closest(".scroll");
  if (box) box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
}

function row(each) {
  const open = each.id === state.case;
  const toggle = () => {
    change({ case: open ? "" : each.id });
    document.querySelector(`[data-case="${CSS.escape(each.id)}"]`)?.focus();
  };
  const button = make("button", { class: "case", "aria-expanded": open, "data-case": each.id, onclick: toggle }, each.name);
  const line = make(
    "tr",
    { class: open ? "opened" : "" },
    make("td", {}, button, ...mend(each)),
    make("td", { class: each.status === STATUSES[0] ? "over" : "" }, each.status),
    make("td", {}, ...margin(each)),
    make("td", { class: "name" }, each.largest ?? ""),
    make("td", { class: "figure" }, String(each.tensors?.length ?? 0)),
    make("td", {}, (each.excuses ?? []).join(", ")),
  );
  return open ? [line, make("tr", {}, make("td", { class: "detail", colspan: 6 }, ...detail(each)))] : [line];
}

// The answer of a failed case: what stands above its details.
const answer = (each) => (each.text ?? "").split("\ndetails:\n")[0];

// The first place to mend, below the name of its case; a place that an earlier case has is named once.
function mend(each) {
  const places = answer(each).split("\n").filter((line) => /^  \S/.test(line));
  if (!places.length) return [];
  const first = found.cases.find((other) => answer(other).includes(places[0]));
  const told = first === each ? places[0].trim().replace(/ {2,}/g, " ") : `as ${first.name}`;
  return [make("small", { class: "mend" }, told)];
}

function margin(each) {
  if (each.needed === undefined) return [each.raises ? "both sides raise" : each.differs ? "as declared" : "not compared"];
  const part = Math.min(share(each), 1);
  const bar = make("i", {});
  bar.style.width = `${100 * part}%`;
  const unit = each.unit === "roundings" ? "" : ` ${each.unit}`;
  const kind = `margin${share(each) > 1 ? " over" : ""}`;
  return [make("span", { class: kind, "aria-hidden": true }, bar), `${number(each.needed)} of ${each.budget}${unit}`];
}

// One case.

function detail(each) {
  const parts = [];
  const text = each.text ?? "";
  const repeat = text.split("\n").find((line) => line.startsWith("repeat: "));
  if (text) parts.push(make("pre", { class: "answer" }, answer(each)));
  if (repeat) parts.push(make("h3", {}, "Repeat it"), make("code", { class: "repeat" }, repeat.slice(8)));
  if (each.differs) parts.push(make("p", {}, `Declared to differ: ${each.differs}`));
  if (each.ill_posed) parts.push(make("p", { class: "over" }, `Ill-posed: ${each.ill_posed}`));
  const diagnosis = each.diagnosis && JSON.parse(each.diagnosis);
  for (const culprit of diagnosis?.culprits ?? []) parts.push(...blamed(culprit));
  if (each.settings) {
    const items = each.settings.map((setting) => make("li", { class: "name" }, setting));
    parts.push(make("h3", {}, "Settings that differ"), make("ul", {}, ...items));
  }
  if (diagnosis?.layers.length > 1) {
    const budget = each.unit === "roundings" ? each.budget : found.budget;
    parts.push(make("h3", {}, "The path of the error through the network"), way(diagnosis, budget));
    parts.push(make("h3", {}, "Both networks, layer by layer"), ...trees(diagnosis, budget));
  }
  const past = found.trends[each.trend];
  if (past) parts.push(make("h3", {}, `Over ${past.length} runs: ${each.trend}`), make("div", { class: "plot" }, trend(past, 1100, 180, each.budget)));
  if (each.tensors) parts.push(make("h3", {}, `Tensors, in ${each.unit}`), tensors(each));
  if (text) parts.push(make("h3", {}, "What the terminal shows"), make("pre", {}, text));
  return parts;
}

function blamed(culprit) {
  const layer = culprit.reference || "the network itself";
  const other = culprit.candidate === culprit.reference ? "" : ` = candidate's ${culprit.candidate}`;
  const parts = [make("h3", { class: "over" }, `Culprit: ${layer}${other} (${culprit.kind})`)];
  if (culprit.statement) {
    const sides = [make("div", {}, "candidate", make("pre", {}, culprit.statement))];
    if (culprit.counterpart) sides.unshift(make("div", {}, "reference", make("pre", {}, culprit.counterpart)));
    parts.push(make("div", { class: "statements" }, ...sides));
  }
  const causes = culprit.causes.map((cause) => make("li", {}, cause));
  return [...parts, make("ul", {}, ...causes)];
}

function tensors(each) {
  const most = (row) => Math.max(value(row[1]) ?? Infinity, value(row[2]) ?? Infinity);
  const rows = [...each.tensors].sort((a, b) => most(b) - most(a) || 0).map(([name, error, worst, own, conditioning, relative, wrong]) => {
    const kind = wrong ? "figure over" : "figure";
    const figures = [error, worst, own, conditioning].map((figure, i) => make("td", { class: i < 2 ? kind : "figure" }, number(figure)));
    const told = typeof wrong === "string" ? wrong : wrong && `at (${wrong.index}): candidate ${exact(wrong.candidate)}, truth ${exact(wrong.truth)}`;
    return make("tr", {}, make("td", { class: "name" }, name), ...figures, make("td", { class: "figure" }, number(relative)), make("td", {}, told ?? ""));
  });
  const titles = ["tensor", "error", "worst element", "the reference's own", "conditioning", "relative", ""];
  return make("div", { class: "scroll", tabindex: 0 }, table(titles, rows));
}

// The errors of a case over the runs: a small line; a large one with its budget and its axes.
function trend(past, width, height, budget) {
  let tensor = "";
  const points = past.map(([run, error, other], i) => {
    tensor = other ?? tensor;
    const [time, commit] = found.runs[run];
    return { i, error: drawn(error), figure: number(error), told: `${number(error)}, ${tensor}\n${time}${commit ? `\ncommit ${commit}` : ""}`, time };
  });
  const place = { x: "i", y: "error" };
  const large = budget !== undefined;
  const marks = [
    Plot.line(points, { ...place, stroke: "var(--within)", strokeWidth: 1.5, curve: "step-after" }),
    Plot.dot(large ? points : points.slice(-1), { ...place, r: 2.5, fill: "var(--within)" }),
  ];
  if (large) {
    marks.unshift(Plot.ruleY([budget], { stroke: "var(--over)", strokeDasharray: "5 4" }));
    marks.push(Plot.tip(points, Plot.pointer({ ...place, title: "told", fill: "var(--ground)" })));
  }
  const first = points[0], last = points.at(-1);
  return Plot.plot({
    width,
    height,
    ...(large ? { marginLeft: 60, marginRight: 60 } : { margin: 4 }),
    ariaLabel: `From ${first.figure} on ${first.time} to ${last.figure} on ${last.time}`,
    x: large ? { label: null, ticks: [first.i, last.i], tickFormat: (i) => points[i].time } : { axis: null },
    y: large ? { type: "log", label: "largest error", grid: true, ticks: 5, tickFormat: tick } : { type: "log", axis: null },
    marks,
  });
}

// The layers without one within them, in the order of their outputs: what holds others repeats them.
function leaves(layers) {
  const holds = new Set();
  for (const [path] of layers) {
    const segments = path.split(".");
    while (segments.pop() && segments.length) holds.add(segments.join("."));
  }
  return layers.filter(([path]) => path && !holds.has(path));
}

function way(diagnosis, budget) {
  const layers = leaves(diagnosis.layers);
  const culprits = new Set(diagnosis.culprits.map((culprit) => culprit.reference));
  const points = ["forward", "backward"].flatMap((pass, back) =>
    layers.flatMap(([path, , errors], i) =>
      ["in the whole run", "by itself"].map((fed, alone) => ({
        path,
        pass: back ? "backward →" : "forward →",
        fed,
        alone,
        x: back ? layers.length - 1 - i : i,
        error: errors[2 * alone + back],
        culprit: culprits.has(path),
      })),
    ),
  ).filter((point) => point.error !== null);
  const [whole, alone] = [points.filter((point) => !point.alone), points.filter((point) => point.alone)];
  const place = { x: "x", y: (point) => drawn(point.error), fx: "pass" };
  const told = (point) => `${point.path}${point.culprit ? " (culprit)" : ""}\n${number(point.error)} ${point.fed}`;
  const plot = Plot.plot({
    width: 1100,
    height: 280,
    marginLeft: 60,
    ariaLabel: "Errors of the layers, first forward, then backward; the table below has the same figures",
    fx: { domain: ["forward →", "backward →"], label: null },
    x: { axis: null },
    y: { type: "log", label: "error in roundings", grid: true, ticks: 6, tickFormat: tick },
    marks: [
      Plot.ruleY([budget], { stroke: "var(--over)", strokeDasharray: "5 4" }),
      Plot.line(whole, { ...place, stroke: "var(--within)", strokeWidth: 2, curve: "step" }),
      Plot.dot(alone, { ...place, symbol: "diamond", r: 4, stroke: "var(--over)", fill: "var(--ground)" }),
      Plot.dot(alone.filter((point) => point.culprit), { ...place, symbol: "diamond", r: 7, fill: "var(--over)" }),
      Plot.tip(points, Plot.pointer({ ...place, title: told, fill: "var(--ground)" })),
    ],
  });
  const legend = "line: in the whole run, with what earlier layers add; diamonds: the layer by itself, filled where it is to blame; dashes: the budget";
  return make("div", { class: "plot" }, plot, make("p", { class: "legend" }, legend));
}

// The layers of both sides, side by side: those that belong together in one row.
function trees(diagnosis, budget) {
  const { reference, candidate } = diagnosis.trees;
  const partner = new Map(diagnosis.layers.map(([theirs, ours]) => [theirs, ours]));
  const taken = new Set(partner.values());
  const errors = new Map(diagnosis.layers.map(([theirs, , figures]) => [theirs, figures]));
  const culprits = new Set(diagnosis.culprits.map((culprit) => culprit.reference));
  const pairs = Object.keys(reference).map((theirs) => {
    const same = theirs in candidate && !taken.has(theirs) ? theirs : undefined;
    return { theirs, ours: partner.get(theirs) ?? same };
  });
  let last = -1; // the row of the candidate's layer before
  for (const ours of Object.keys(candidate)) {
    const at = pairs.findIndex((pair) => pair.ours === ours);
    if (at < 0) pairs.splice(++last, 0, { ours });
    else last = at;
  }
  const named = (path, kinds) => {
    if (path === undefined) return make("td", {}, "–");
    const short = path ? "  ".repeat(path.split(".").length) + path.split(".").pop() : "(network)";
    return make("td", { class: "name", title: path }, `${short} `, make("small", {}, kinds[path] ?? ""));
  };
  const rows = pairs.map(({ theirs, ours }) => {
    const figures = errors.get(theirs) ?? [null, null, null, null];
    const cells = figures.map((figure, i) => {
      const why = i > 1 && figure === null ? diagnosis.unfed[theirs] : undefined;
      const cell = make("td", { class: "cell", title: why }, why ? "not fed" : number(figure));
      if (figure !== null) cell.style.background = colour(value(figure) / budget);
      return cell;
    });
    return make("tr", { class: culprits.has(theirs) ? "culprit" : "" }, named(theirs, reference), ...cells, named(ours, candidate));
  });
  const titles = ["reference", "forward, in the whole run", "backward, in the whole run", "forward, by itself", "backward, by itself", "candidate"];
  const notes = diagnosis.notes.map((note) => make("p", { class: "legend" }, note));
  const legend = make("p", { class: "legend" }, "blue: within the budget; orange: beyond it, the more so the stronger; -: not measured");
  const body = table(titles, rows, "layers");
  body.tHead.rows[0].lastElementChild.className = "";
  return [legend, make("div", { class: "scroll", tabindex: 0 }, body), ...notes];
}

// The colour of an error. part: its share of the budget.
function colour(part) {
  const strength = part <= 1 ? 8 + 22 * part : Math.min(25 + 8 * Math.log10(part), 75);
  return `color-mix(in srgb, var(--${part <= 1 ? "within" : "over"}) ${strength}%, transparent)`;
}

// The distribution of all errors.

function distribution() {
  if (!found.bins.length) return;
  const bins = found.bins.map(([kind, x1, x2, count]) => ({ kind, x1, x2, count }));
  const kinds = [...new Set(bins.map((bin) => bin.kind))];
  const told = (bin) => `${bin.count} ${bin.kind} tensors\nof ${number(bin.x1)} to ${number(bin.x2)} roundings`;
  const bars = (fill, of) => Plot.rect(bins.filter(of), { x1: "x1", x2: "x2", y1: 0, y2: "count", fy: "kind", fill, title: told, tip: { fill: "var(--ground)" } });
  const plot = Plot.plot({
    width: 1100,
    height: 60 + 58 * kinds.length,
    marginLeft: 50,
    marginRight: 110,
    ariaLabel: "How many tensors have which error; the table below sums it up",
    x: { type: "log", label: "largest error of a tensor, in roundings →", tickFormat: tick },
    y: { type: "sqrt", label: "tensors", ticks: [Math.max(...bins.map((bin) => bin.count))], grid: true },
    fy: { label: null, domain: kinds },
    marks: [
      bars("var(--within)", (bin) => bin.x1 < found.budget),
      bars("var(--over)", (bin) => bin.x1 >= found.budget),
      Plot.ruleX([found.budget], { stroke: "var(--over)", strokeDasharray: "5 4" }),
      Plot.ruleY([0]),
    ],
  });
  $("distribution").append(plot);
}

// Start.

async function unpacked() {
  const bytes = Uint8Array.from(atob($("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

async function start() {
  found = await unpacked();
  const names = new Set();
  found.cases.forEach((each, i) => {
    each.words = [each.name, each.twin, each.text, each.trend, each.largest, ...(each.excuses ?? [])].join("\n").toLowerCase();
    each.id = names.has(each.name) ? `${each.name} (${i})` : each.name;
    names.add(each.id);
  });
  read();
  show();
  distribution();
  for (const cell of document.querySelectorAll("[data-trend]")) cell.append(trend(found.trends[cell.dataset.trend], 160, 36));
  for (const name of CHOICES) {
    $("filters").elements[name]?.addEventListener("input", (event) => change({ [name]: event.target.value }));
  }
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("more").addEventListener("click", () => { every = true; show(); });
  document.addEventListener("click", (event) => {
    const { sort, status, excuse, search } = event.target.closest("button")?.dataset ?? {};
    if (sort) change({ sort: state.sort === sort ? `-${sort}` : sort });
    if (status) change({ status: state.status === status ? "" : status });
    if (excuse) change({ excuse });
    if (search) change({ search });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select")) return;
    event.preventDefault();
    $("filters").elements.search.focus();
  });
  addEventListener("hashchange", () => { read(); show(); });
  document.documentElement.dataset.ready = found.cases.length;
}

start();
