// What is known of one label: who influences it, in words; its table; how its influencers were found.
const labelPanel = document.getElementById("panel-label");

function times(edge) {
  const ratio = Math.exp(edge.strength);
  if (edge.effect === "unclear") return "has an unclear effect: it was never seen both with and without";
  const much = ratio >= 1 ? `${factor(ratio).slice(1)} times as likely` : `${factor(ratio).slice(1)} times as likely (${factor(1 / ratio).slice(1)} times less)`;
  return edge.effect === "mixed" ? `has a mixed effect: ${much} on average, more in some states and less in others` : much;
}

function influencesOf(code) {
  if (!incoming[code].length) return make("p", { class: "quiet" }, modelOf[code]?.target.summary.reach ? "No label was found to influence it." : "Its probability depends on the last events themselves.");
  return make("ul", { class: "influences" }, ...incoming[code].map((edge) => make("li", { class: edge.effect },
    "with ", nameButton(edge.from, open), ` ${windowWords(modelOf[code].target, edge.from)}: ${times(edge)} `,
    make("span", { class: "quiet" }, `(seen ${number(edge.nWith)} times with, ${number(edge.nWithout)} without${edge.confidence === undefined ? "" : `; confidence ${percent(edge.confidence)}`})`))));
}

function influencedBy(code) {
  if (!outgoing[code].length) return make("p", { class: "quiet" }, "It was found to influence no label.");
  return make("ul", { class: "influences" }, ...outgoing[code].map((edge) => make("li", { class: edge.effect }, nameButton(edge.to, open), edge.effect === "unclear" ? " (unclear)" : ` ${factorOf(edge)}`, edge.from === edge.to ? " (itself)" : "")));
}

function traceOf(target) {
  if (!target.trace.length) return [];
  const body = make("tbody");
  const more = firstOf(target.trace, 50, body, ([action, code, score, gain]) => make("tr", {},
    make("td", {}, action === "remove" ? "left: " : "entered: ", name(code)), make("td", { class: "number" }, gain.toFixed(1)), make("td", { class: "number" }, number(Number(score.toFixed(1))))));
  return [make("h3", {}, "How they were found"), make("table", { class: "trace" }, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Step"), make("th", { scope: "col", class: "number" }, "Gain"), make("th", { scope: "col", class: "number" }, "Score"))), body), more ?? ""];
}

function showLabel(code) {
  if (code === null) {
    const strongest = [...edges].filter((edge) => edge.effect !== "unclear").sort(byStrength).slice(0, 10);
    labelPanel.replaceChildren(
      make("h2", {}, "Choose a label"),
      make("p", {}, "Click a label in the graph, or find it by its name, to see what influences it, in which states of the past it is more or less likely, and how that was found."),
      ...(strongest.length ? [make("h3", {}, strongest.length < edges.length ? `The ${strongest.length} strongest influences` : "Influences"),
        make("ul", { class: "influences" }, ...strongest.map((edge) => make("li", { class: edge.effect }, nameButton(edge.from, open), ` ${edge.effect} `, nameButton(edge.to, open), ` ${factorOf(edge)} `, make("span", { class: "quiet" }, `(seen ${number(edge.nWith)} times)`))))] : []),
      make("h3", {}, "All labels"),
      labelList());
    return;
  }
  const its = modelOf[code];
  labelPanel.replaceChildren(
    make("h2", {}, name(code)),
    make("p", {}, `${percent(rate(code))} of events (${number(model.n[code])} of ${number(nEvents)}).`),
    make("div", { class: "row no-print" }, computable ? make("button", { type: "button", id: "add-to-history", onclick: () => { addToHistory(code); showTab("whatif"); } }, "Add to the what-if history") : "", make("button", { type: "button", onclick: () => open(null) }, "All labels")),
    make("h3", {}, "Influenced by"),
    its ? influencesOf(code) : make("p", { class: "quiet" }, "This label has no model here; it is one that others may depend on."),
    make("h3", {}, "Influences"), influencedBy(code),
    ...(its ? [
      make("h3", {}, "How likely it is, by the state of the past"),
      stateTable(its.target, its.outcome, rate(code)),
      make("p", { class: "key" }, "Bar: probability; bracket: 95% interval; dashed line: its share of all events. Seen: how often it followed, of how often the state was seen."),
      ...traceOf(its.target),
      make("p", { class: "key" }, `Score ${its.target.score === null ? "none" : number(its.target.score)}; log-likelihood ${number(its.target.likelihood)}.`),
    ] : []));
}

function labelList() {
  const box = make("div", { class: "frequencies" });
  const order = [...everyone].sort((a, b) => model.n[b] - model.n[a] || a - b);
  const more = firstOf(order, 60, box, (code) => fragment(
    nameButton(code, open), bar(model.n[code], biggest), make("span", { class: "number" }, number(model.n[code])), make("span", { class: "number quiet" }, percent(rate(code)))));
  return make("div", {}, box, more ?? "");
}

function fragment(...parts) {
  const all = document.createDocumentFragment();
  all.append(...parts);
  return all;
}
