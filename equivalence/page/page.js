// The table of cases: filtered, sorted, and each case opened, by state that the address keeps.
// What is shown is always made as text, never as HTML: names come from whoever declared them.
"use strict";

const STATUSES = ["different", "known difference", "excused", "equal"];
const ROWS = 200; // rows at first; a browser is slow with thousands
const LEAST = 0.01; // roundings; a smaller error is drawn as this one
const CHOICES = ["search", "status", "excuse", "device"];
const OF_CASES = ["case", "result", "first place to mend", "largest error", "budget", "unit", "tensor with it", "tensors", "excuses", "device", "seed"];
const OF_LAYERS = ["reference", "forward, in the whole run", "backward, in the whole run", "forward, by itself", "backward, by itself", "candidate"];
const OF_TENSORS = ["tensor", "error", "worst element", "the reference's own", "conditioning", "relative"];

let found = { cases: [], bins: [], budget: 16, runs: [], trends: {} };
let state = { sort: "", search: "", status: "", excuse: "", device: "", case: "", within: "", over: "" };
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
  keep(changes);
  show();
}

function keep(changes) {
  Object.assign(state, changes);
  const told = new URLSearchParams(Object.entries(state).filter(([, text]) => text));
  try {
    history.replaceState(null, "", `#${told}`);
  } catch {
    // Within a notebook the page has no address of its own.
  }
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
  $("cases").tBodies[0].replaceChildren(...shown.flatMap((each) => row(each, shown)));
  const mended = shown.some((each) => places(each).length);
  $("cases").classList.toggle("mended", mended);
  for (const opened of document.querySelectorAll("td.detail")) opened.colSpan = mended ? 7 : 6;
  sift();
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

function row(each, shown) {
  const open = each.id === state.case;
  const toggle = () => {
    change({ case: open ? "" : each.id, within: "", over: "" });
    document.querySelector(`[data-case="${CSS.escape(each.id)}"]`)?.focus();
  };
  const button = make("button", { class: "case", "aria-expanded": open, "data-case": each.id, onclick: toggle }, each.name);
  const line = make(
    "tr",
    { class: open ? "opened" : "" },
    make("td", {}, button),
    make("td", { class: each.status === STATUSES[0] ? "over" : "" }, each.status),
    make("td", { class: "mend" }, mend(each, shown)),
    make("td", {}, ...margin(each)),
    make("td", { class: "name" }, each.largest ?? ""),
    make("td", { class: "figure" }, String(each.tensors?.length ?? 0)),
    make("td", {}, (each.excuses ?? []).join(", ")),
  );
  return open ? [line, make("tr", {}, make("td", { class: "detail" }, ...detail(each)))] : [line];
}

// The answer of a failed case: what stands above its details.
const answer = (each) => (each.text ?? "").split("\ndetails:\n")[0];

// The places to mend that the answer of a failed case names.
const places = (each) => answer(each).split("\n").filter((line) => /^  \S/.test(line)).map((line) => line.trim().replace(/ {2,}/g, " "));

// The first of them; a place that a case above has is told once. above: those that are shown.
function mend(each, above) {
  const [place] = places(each);
  const first = place && above.find((other) => places(other).includes(place));
  return first && first !== each ? `as ${first.name}` : (place ?? "");
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
  for (const same of alike(diagnosis?.culprits ?? [])) parts.push(...blamed(same));
  if (each.settings) {
    const items = each.settings.map((setting) => make("li", { class: "name" }, setting));
    parts.push(make("h3", {}, "Settings that differ"), make("ul", {}, ...items));
  }
  const layers = diagnosis?.layers.length > 1 ? diagnosis : undefined;
  if (layers || each.tensors) parts.push(sieve(each, layers));
  if (layers) {
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

// Culprits of one cause belong together: a block that is used twelve times is told once.
function alike(culprits) {
  const groups = new Map();
  for (const each of culprits) {
    const cause = JSON.stringify([each.kind, each.statement, each.counterpart, each.causes]);
    groups.set(cause, [...(groups.get(cause) ?? []), each]);
  }
  return groups.values();
}

function blamed(same) {
  const [culprit] = same;
  const layers = same.flatMap(({ reference, candidate }, i) => {
    const other = candidate === reference ? "" : ` = candidate's ${candidate}`;
    return [i ? ", " : "", reference ? named(reference) : "the network itself", other];
  });
  const title = same.length > 1 ? `Culprits, ${same.length} of one cause: ` : "Culprit: ";
  const parts = [make("h3", { class: "over" }, title, ...layers, ` (${culprit.kind})`)];
  if (culprit.statement) {
    const sides = [make("div", {}, "candidate", make("pre", {}, culprit.statement))];
    if (culprit.counterpart) sides.unshift(make("div", {}, "reference", make("pre", {}, culprit.counterpart)));
    parts.push(make("div", { class: "statements" }, ...sides));
  }
  const causes = culprit.causes.map((cause) => make("li", {}, cause));
  return [...parts, make("ul", {}, ...causes)];
}

// What chooses among the layers and tensors of a case, and writes them to files.
function sieve(each, diagnosis) {
  const within = make("input", { type: "search", name: "within", value: state.within, placeholder: "a layer, or a part of a name", oninput: () => narrow({ within: within.value }) });
  const over = make("input", { type: "checkbox", name: "over", onchange: () => narrow({ over: over.checked ? "1" : "" }) });
  over.checked = Boolean(state.over);
  const parts = [make("label", {}, "Layers and tensors ", within), make("label", {}, over, " beyond the budget alone")];
  if (diagnosis) parts.push(saver("layers as CSV", `${each.name}-layers.csv`, () => [OF_LAYERS, ...diagnosis.layers.map(([theirs, ours, figures]) => [theirs, ...figures, ours])]));
  if (each.tensors) parts.push(saver("tensors as CSV", `${each.name}-tensors.csv`, () => [[...OF_TENSORS, "off"], ...worst(each).map((row) => [...row.slice(0, 6), off(row[6])])]));
  return make("form", { class: "sieve", onsubmit: (event) => event.preventDefault() }, ...parts, make("output", { id: "sifted", "aria-live": "polite" }));
}

function narrow(changes) {
  keep(changes);
  sift();
}

// Hide what the sieve does not let through. A whole path chooses a layer with all within it.
function sift() {
  const rows = [...document.querySelectorAll("tr[data-path]")];
  const words = state.within.toLowerCase().split(/\s+/).filter(Boolean);
  const layer = rows.some((row) => row.dataset.layer === state.within) && state.within;
  const inside = (path) => path.split(":").some((part) => part === layer || part.startsWith(`${layer}.`));
  for (const row of rows) {
    const path = row.dataset.path;
    const chosen = layer ? inside(path) : words.every((word) => path.toLowerCase().includes(word));
    row.hidden = !chosen || (Boolean(state.over) && !("over" in row.dataset));
  }
  if ($("sifted")) $("sifted").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
}

// A layer's name that chooses it.
function named(path, shown = path) {
  const choose = () => {
    document.querySelector(".sieve").elements.within.value = path;
    narrow({ within: path });
  };
  return make("button", { class: "link layer", title: path, onclick: choose }, shown);
}

// Files.

function saver(title, name, rows) {
  const save = () => {
    const text = rows().map((row) => row.map(field).join(",")).join("\r\n");
    const address = URL.createObjectURL(new Blob([`${text}\r\n`], { type: "text/csv" }));
    make("a", { href: address, download: name }).click();
    URL.revokeObjectURL(address);
  };
  return make("button", { type: "button", class: "link", onclick: save }, title);
}

// A field of CSV, as RFC 4180 has it.
function field(content) {
  const text = String(content ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const fields = (each) => [each.name, each.status, places(each)[0], each.needed, each.budget, each.unit, each.largest, each.tensors?.length ?? 0, (each.excuses ?? []).join(" "), each.device, each.seed];

// The tensors of a case, the worst first, and what is off of one.

function worst(each) {
  const most = (row) => Math.max(value(row[1]) ?? Infinity, value(row[2]) ?? Infinity);
  return [...each.tensors].sort((a, b) => most(b) - most(a) || 0);
}

const off = (wrong) => (typeof wrong === "object" ? `at (${wrong.index}): candidate ${exact(wrong.candidate)}, truth ${exact(wrong.truth)}` : wrong);

function tensors(each) {
  const rows = worst(each).map(([name, error, most, own, conditioning, relative, wrong]) => {
    const kind = wrong ? "figure over" : "figure";
    const figures = [error, most, own, conditioning].map((figure, i) => make("td", { class: i < 2 ? kind : "figure" }, number(figure)));
    const cells = [make("td", { class: "name" }, name), ...figures, make("td", { class: "figure" }, number(relative)), make("td", {}, off(wrong) ?? "")];
    return make("tr", { "data-path": name, "data-over": Boolean(wrong) }, ...cells);
  });
  return make("div", { class: "scroll", tabindex: 0 }, table([...OF_TENSORS, ""], rows));
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
  const told = (path, kinds, theirs) => {
    if (path === undefined) return make("td", {}, "–");
    const indent = path ? "  ".repeat(path.split(".").length) : "(network)";
    const name = path && (theirs === undefined ? path.split(".").pop() : named(theirs, path.split(".").pop()));
    return make("td", { class: "name", title: path }, indent, name, " ", make("small", {}, kinds[path] ?? ""));
  };
  const rows = pairs.map(({ theirs, ours }) => {
    const figures = errors.get(theirs) ?? [null, null, null, null];
    const cells = figures.map((figure, i) => {
      const why = i > 1 && figure === null ? diagnosis.unfed[theirs] : undefined;
      const cell = make("td", { class: "cell", title: why }, why ? "not fed" : number(figure));
      if (figure !== null) cell.style.background = colour(value(figure) / budget);
      return cell;
    });
    const over = figures.some((figure) => figure !== null && value(figure) > budget);
    const path = theirs ?? ours;
    return make("tr", { class: culprits.has(theirs) ? "culprit" : "", "data-path": path, "data-layer": path, "data-over": over }, told(theirs, reference, theirs), ...cells, told(ours, candidate));
  });
  const notes = diagnosis.notes.map((note) => make("p", { class: "legend" }, note));
  const legend = make("p", { class: "legend" }, "blue: within the budget; orange: beyond it, the more so the stronger; -: not measured");
  const body = table(OF_LAYERS, rows, "layers");
  body.tHead.rows[0].lastElementChild.className = "";
  return [legend, make("div", { class: "scroll", tabindex: 0 }, body), ...notes];
}

// The colour of an error. part: its share of the budget.
function colour(part) {
  const strength = part <= 1 ? 8 + 22 * part : Math.min(25 + 8 * Math.log10(part), 75);
  return `color-mix(in srgb, var(--${part <= 1 ? "within" : "over"}) ${strength}%, transparent)`;
}

// The distribution of all errors. Both axes are logarithmic, so that a single tensor is seen beside thousands.

const FEWEST = 0.5; // tensors, where bars begin: a bar of one tensor has a height

function distribution() {
  if (!found.bins.length) return;
  const bins = found.bins.map(([kind, x1, x2, count]) => ({ kind, x1, x2, count }));
  const kinds = [...new Set(bins.map((bin) => bin.kind))];
  const told = (bin) => `${bin.count} ${bin.kind} tensors\nof ${number(bin.x1)} to ${number(bin.x2)} roundings`;
  const bars = (fill, of) => Plot.rect(bins.filter(of), { x1: "x1", x2: "x2", y1: FEWEST, y2: "count", fy: "kind", fill, title: told, tip: { fill: "var(--ground)" } });
  const plot = Plot.plot({
    width: 1100,
    height: 60 + 58 * kinds.length,
    marginLeft: 50,
    marginRight: 110,
    ariaLabel: "How many tensors have which error; the table below sums it up",
    x: { type: "log", label: "largest error of a tensor, in roundings →", tickFormat: tick },
    y: { type: "log", label: "↑ tensors", domain: [FEWEST, Math.max(10, ...bins.map((bin) => bin.count))], tickFormat: tick, grid: true },
    fy: { label: null, domain: kinds },
    marks: [
      bars("var(--within)", (bin) => bin.x1 < found.budget),
      bars("var(--over)", (bin) => bin.x1 >= found.budget),
      Plot.ruleX([found.budget], { stroke: "var(--over)", strokeDasharray: "5 4" }),
      Plot.ruleY([FEWEST]),
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
  $("csv").append(saver("these cases as CSV", "cases.csv", () => [OF_CASES, ...chosen().map(fields)]));
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
