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
  for (const code of past) told.append("event", labels[code]);
  return `#${told}`;
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
  past = told.getAll("event").map((label) => codeOf.get(label)).filter((code) => code !== undefined);
  const chosen = codeOf.get(told.get("label")) ?? (location.hash.length > 1 ? null : startLabel), from = codeOf.get(told.get("from"));
  const edge = chosen === null || from === undefined ? undefined : edgeBetween.get(from * labels.length + chosen);
  Object.assign(state, { chosen, edge: edge?.number ?? null });
  tab = known(told.get("tab"), tabs, "label");
  showFilter();
  showEverything();
}
