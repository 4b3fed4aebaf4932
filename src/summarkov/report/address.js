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
  if (filter.show !== "all") told.set("show", filter.show);
  if (Math.abs(filter.least - model.start) > 1e-9) told.set("factor", Math.exp(filter.least).toPrecision(5));
  if (filter.sure > 0) told.set("confidence", filter.sure);
  tellPast(told);
  return `#${told}`;
}

// The history of "what if": events, those that came with the one before, gaps before them, and what holds; all in their order.
const inSeconds = (steps) => Number(((steps * clock.step) / 1e6).toPrecision(12));
function tellPast(told) {
  for (const { code, joined, gap } of past.events) {
    if (gap && !joined) told.append("gap", inSeconds(gap));
    told.append(joined ? "with" : "event", labels[code]);
  }
  if (past.wait) told.set("wait", inSeconds(past.wait));
  for (const code of past.given) if (!usualValues().includes(code)) told.append("given", labels[code]);
}
function recallPast(told) {
  const events = [], steps = (value) => (clock && Number(value) > 0 ? (Number(value) * 1e6) / clock.step : 0);
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
  filter.show = known(told.get("show"), Object.keys(kinds), "all");
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
