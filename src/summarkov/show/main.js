// What is looked at, in the address of the page: so Back and Forward work, and a link shows a colleague the same.
const codeOf = new Map(labels.map((label, code) => [label, code]));
const tabs = ["label", "whatif", ...(model.cases ? ["sequences"] : []), ...(model.groups ? ["groups"] : []), "data"];
let tab = "label";

function addressNow() {
  const told = new URLSearchParams();
  if (state.chosen !== null) told.set("label", labels[state.chosen]);
  if (state.edge !== null) told.set("from", labels[edges[state.edge].from]);
  if (tab !== "label") told.set("tab", tab);
  if (state.view !== startView) told.set("view", state.view);
  if (filter.show !== startShow) told.set("show", filter.show);
  if (Math.abs(filter.least - model.start) > 1e-9) told.set("factor", Math.exp(filter.least).toPrecision(5));
  if (filter.sure > 0) told.set("confidence", filter.sure);
  tellPast(told);
  return `#${told}`;
}

// The history of "what if": events, those that came with the one before, gaps before them, and what holds; all in their order.
const inSeconds = (steps) => Number((steps / 1e6).toPrecision(12));
function tellPast(told) {
  for (const { code, joined, gap } of past.events) {
    if (gap && !joined) told.append("gap", inSeconds(gap));
    told.append(joined ? "with" : "event", labels[code]);
  }
  if (past.wait) told.set("wait", inSeconds(past.wait));
  for (const code of past.given) if (!usualValues().includes(code)) told.append("given", labels[code]);
}
function recallPast(told) {
  const events = [], steps = (value) => (clock && Number(value) > 0 ? Number(value) * 1e6 : 0);
  let gap = 0, given = usualValues();
  for (const [key, value] of told) {
    const code = codeOf.get(value);
    if (key === "gap") gap = steps(value);
    if (["event", "with"].includes(key) && code !== undefined && isEvent(code)) { events.push({ code, joined: key === "with", gap }); gap = 0; }
    if (key === "given" && attributes.has(code)) given = [...given.filter((each) => columnOf(each) !== columnOf(code)), code];
  }
  return { events, given, wait: steps(told.get("wait")) };
}

// A page inside another one, as a notebook shows it, has no address of its own.
const hasAddress = location.protocol !== "about:";

// A step that Back undoes; or, while a slider moves, the same step still.
function remember(isSameStep = false) {
  if (!hasAddress) return;
  const now = addressNow();
  if (now === (location.hash || "#")) return;
  window.history[isSameStep ? "replaceState" : "pushState"](null, "", now);
}

// Show what the address says; what it says of labels that are not here is passed over.
function recall() {
  const told = new URLSearchParams(location.hash.slice(1));
  const known = (value, values, otherwise) => (values.includes(value) ? value : otherwise);
  const number = (key, otherwise) => { const value = Number(told.get(key)); return told.has(key) && Number.isFinite(value) ? value : otherwise; };
  state.view = known(told.get("view"), ["graph", "matrix"], startView);
  filter.show = known(told.get("show"), Object.keys(kinds), startShow);
  filter.least = told.has("factor") ? Math.max(0, Math.log(number("factor", 1))) || 0 : model.start;
  filter.sure = number("confidence", 0);
  past = recallPast(told);
  const chosen = codeOf.get(told.get("label")) ?? (location.hash.length > 1 ? null : startLabel), from = codeOf.get(told.get("from"));
  const edge = chosen === null || from === undefined ? undefined : edgeBetween.get(from * labels.length + chosen);
  Object.assign(state, { chosen, edge: edge?.number ?? null });
  tab = known(told.get("tab"), tabs, "label");
  showFilter();
  showEverything();
}

// Everything together: tabs, theme, search, filter, address.

// A page for one label opens on it.
const startLabel = !model.graph && targets[0].x.length === 1 ? targets[0].x[0] : null;
const panel = document.getElementById("panel");
const scrolled = Object.fromEntries(tabs.map((each) => [each, 0]));  // how far down each tab was left

function putTab(which) {
  scrolled[tabs.find((each) => !document.getElementById(`panel-${each}`).hidden)] = panel.scrollTop;
  tab = which;
  for (const each of tabs) {
    const button = document.getElementById(`tab-${each}`), on = each === which;
    button.setAttribute("aria-selected", on);
    button.tabIndex = on ? 0 : -1;
    document.getElementById(`panel-${each}`).hidden = !on;
  }
  panel.scrollTop = scrolled[which];
  picture.classList.toggle("adding", which === "whatif" && computable);
}

function showTab(which, focus = false) {
  putTab(which);
  if (focus) document.getElementById(`tab-${which}`).focus();
  refresh();
  remember();
}

// Everything as the state says.
function showEverything() {
  showView();
  showLabel();
  putTab(tab);
  if (built) { showWhatIf(); lookAt(state.chosen); }
  refresh();
}

// Choose a label everywhere, null for none; with an edge to it, the evidence for that one.
function open(code, edge = null) {
  hideTip();
  Object.assign(state, { chosen: code, edge });
  tab = "label";
  showEverything();
  panel.scrollTop = scrolled.label = 0;
  remember();
}
function openEdge(edge) { open(edge.to, edge.number); }

// Back to the whole graph, in whatever panel one is.
function leave() {
  if (state.chosen === null) return;
  hideTip();
  Object.assign(state, { chosen: null, edge: null });
  showEverything();
  remember();
}

function clicked(code, edge) {
  if (edge && !adding()) openEdge(edge);
  else if (code === null) leave();
  else if (adding()) addToHistory(code);
  else open(code);
}

function filterChanged() {
  showFilter();
  showLabel();
  refresh();
  remember(true);
}

function turnView(which) {
  state.view = which;
  showView();
  if (which === "graph") { arrange(shown); settle(); }
  refresh();
  remember();
}

function theme(which) {
  document.documentElement.dataset.theme = which;
  document.getElementById("theme").textContent = which === "dark" ? "Light" : "Dark";
}

function startTheme() {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  theme(scheme.matches ? "dark" : "light");
  scheme.addEventListener("change", () => theme(scheme.matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
}

let built = false;  // whether the panels that are not seen at first are there

function start() {
  startTheme();
  document.getElementById("title").textContent = model.title ? visible(model.title) : "Influences among events";
  const types = plural(everyone.filter(isEvent).length, "event type"), sizes = `${plural(model.sequences, "case")} with ${plural(nEvents, "event")}`;
  document.getElementById("summary").textContent = model.findings ? `${model.headline}. Learned from ${sizes} of ${types} by ${familyWords}` : `${model.graph ? `${model.headline} among ` : ""}${types}, learned from ${sizes} by ${familyWords}`;
  startFilter(filterChanged);
  showFilter();
  showView();
  measure();
  build();
  gestures(clicked);
  matrixKeys();
  choose();
  arrange(shown);  // before there is much on the page, so that measuring it is quick
  settle();
  recall();
  listen();
  setTimeout(() => { buildWhatIf(); buildSequences(); if (model.groups) buildGroups(); buildData(); built = true; });  // after the first picture
}

function listen() {
  const on = (id, action) => document.getElementById(id).addEventListener("click", action);
  addEventListener("popstate", recall);
  picker(document.getElementById("search"), (code) => { open(code); if (state.view === "graph") drawnNodes[code].focus({ preventScroll: true }); hideTip(); });
  tabs.forEach((each, i) => {
    const button = document.getElementById(`tab-${each}`);
    button.addEventListener("click", () => showTab(each));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { event.preventDefault(); showTab(tabs[(i + step + tabs.length) % tabs.length], true); }
    });
  });
  on("leave", () => { leave(); drawnNodes[stop]?.focus({ preventScroll: true }); });
  on("skip", (event) => { event.preventDefault(); panel.focus(); });
  on("view-graph", () => turnView("graph"));
  on("view-matrix", () => turnView("matrix"));
  on("save-svg", saveSvg);
  on("save-png", savePng);
  on("save-csv", saveTable);
  document.getElementById("copy-link").hidden = !hasAddress;
  on("copy-link", (event) => copy(location.href, event.currentTarget));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") leave(); });
  for (const [id, action] of [["zoom-in", () => zoom(1.25)], ["zoom-out", () => zoom(0.8)], ["zoom-fit", settle]]) on(id, () => { action(); draw(); });
  new ResizeObserver(() => {
    const { width, height } = screen;
    measure();
    if (state.view === "matrix" || (screen.width === width && Math.abs(screen.height - height) < 5)) return;
    if (screen.width !== width) arrange(shown);
    settle();
    draw();
  }).observe(document.getElementById("stage"));
  // paper has another size than the screen: the picture is scaled as it is
  addEventListener("beforeprint", () => picture.setAttribute("viewBox", `0 0 ${screen.width} ${screen.height}`));
  addEventListener("afterprint", () => picture.removeAttribute("viewBox"));
}
start();

// For the console and for tests: the same numbers, for a history of labels, oldest first; lists of labels happened
// together. Times are in seconds, or in the unit of their column.
function pastOf(events, { given = [], times = [], now } = {}) {
  const codesOf = (those) => those.map((label) => {
    if (!codeOf.has(label)) throw new RangeError("the history holds a label that the model does not know");
    return codeOf.get(label);
  });
  const steps = (time) => (clock ? time * 1e6 : 0);
  const moments = events.map((those, at) => ({ codes: codesOf([those].flat()), time: steps(times[at] ?? 0) }));
  return new History(moments, codesOf(given), now === undefined ? undefined : steps(now));
}
function plainly({ code, own, p, hits, support, occurred, target, key, row, why }) {
  const [low, high] = exactInterval(hits, support, own), words = why ? whyWords({ why }) : stateWords(target, key, row);
  return { label: labels[code], own, p, low, high, support, occurred, words: make("p", {}, ...words).textContent };
}
window.summarkov = {
  predict: (events, more) => predict(pastOf(events, more)).map(plainly),
  otherwise: (events, label, more) => otherwise(pastOf(events, more), predictingOf(codeOf.get(label), pastOf(events, more))).map(plainly),
};
