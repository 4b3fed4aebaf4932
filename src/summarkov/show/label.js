// What is known of one label: who influences it, in words; its table; how its influencers were found.
const labelPanel = document.getElementById("panel-label");

// Whether a model tells single labels apart, or looks at the last events as they are.
const byLabel = (target) => target.summary.reach !== undefined;

// Why influences stand apart in lists.
const apart = {
  itself: "On itself:", "fixed order": "Fixed order, the influencer comes first in 99% or more of the cases with both:", "unclear order": "Unclear order, the order test cannot tell whether these depend on order:",
  "unclear direction": "Unclear direction:", "crowding out": "Crowding out, other events becoming more or less likely explain most of it:", "co-occurrence only": "Co-occurrence only, no clear difference from shuffled cases:",
  "not comparable": "Not comparable, no comparison with other influencers held equal:", "too few events": `Too few events, under 10 seen and under 10 expected${joint ? "" : ", or under 5 cases"}:`,
};
const apartAs = (edge) => edge.aside || (edge.from === edge.to ? "itself" : "");

// Influences in the order of their evidence, labels on themselves and those set aside apart, whatever the filter says.
function edgeList(found, item) {
  const list = (some) => { const box = make("ul", { class: "influences" }), more = firstOf(some, 30, box, (edge) => make("li", { class: classOf(edge) }, item(edge))); return [box, more ?? ""]; };
  const part = (why) => { const some = found.filter((edge) => apartAs(edge) === why); return some.length ? [why ? make("p", { class: "apart" }, apart[why]) : "", ...list(some)] : []; };
  return ["", ...Object.keys(apart)].flatMap(part);
}

const evidenceButton = (edge, says = "evidence") => make("button", { type: "button", class: "link no-print", "data-edge": edge.number, "aria-label": `Evidence: ${shortWords(edge)}`, onclick: () => openEdge(edge) }, says);

function influencesOf(code) {
  if (!incoming[code].length) return [make("p", { class: "quiet" }, modelOf[code] && byLabel(modelOf[code].target) ? "No event type was found to influence it." : "Its probability depends on the last events themselves.")];
  return edgeList(incoming[code], (edge) => [
    nameButton(edge.from, open), `: ${sentenceOf(edge)} `, evidenceButton(edge), passagesButton(edge)]);
}

function influencedBy(code) {
  if (!outgoing[code].length) return [make("p", { class: "quiet" }, "It was found to influence no label.")];
  return edgeList(outgoing[code], (edge) => [nameButton(edge.to, open), ` ${edge.change} ${edge.times || "(unclear)"}`, " ", evidenceButton(edge)]);
}

const actions = { add: "entered: ", remove: "left: ", change: "changed: " };

function traceOf(target) {
  const steps = target.trace.filter(([action]) => action in actions);  // a tree tells its splits itself
  if (!steps.length) return certificateOf(target.certificate);
  const body = make("tbody");
  const more = firstOf(steps, 50, body, ([action, code, score, gain, ...reach]) => make("tr", {},
    make("td", {}, actions[action], name(code), ...reach.map((k) => (k === null ? " (ever)" : ` (look-back ${k})`))), make("td", { class: "number" }, gain.toFixed(1)), make("td", { class: "number" }, number(Number(score.toFixed(1))))));
  return [make("h3", {}, "How they were found"), make("table", { class: "trace" }, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Step"), make("th", { scope: "col", class: "number" }, "Gain"), make("th", { scope: "col", class: "number" }, "Score"))), body), more ?? "", ...certificateOf(target.certificate)];
}

// What an exact search proves.
function certificateOf(found) {
  if (!found) return [];
  const sets = found.sets < 1e9 ? plural(found.sets, "set") : `${found.sets.toExponential(1)} sets`;
  const words = found.proved
    ? `No other of the ${sets} of influencers scores better: ${number(found.scored)} were scored, the others cannot.`
    : `Not proved to be the best of ${sets}: stopped after ${number(found.scored)}${found.gap === null ? "" : `. No other can score better by more than ${number(found.gap)}`}.`;
  const greedy = found.worse > 0 ? [" Greedy search finds ", ...(found.greedy.length ? joined(found.greedy.map((code) => name(code)), ", ") : ["none"]), `, which scores ${number(found.worse)} less.`] : [" Greedy search finds nothing worse."];
  return [make("p", { class: "small" }, words, greedy)];
}

const lineOf = (edge) => [nameButton(edge.from, open), ` ${verbOf(edge)} `, nameButton(edge.to, open), ` ${edge.change}, ${edge.times || edge.effectWord} `, make("span", { class: "quiet" }, edge.support ? `(${edge.support})` : ""), " ", evidenceButton(edge), passagesButton(edge)];
const followWords = () => `${model.outcome ? "Share of cases without → with the influencer" : edges.some((edge) => edge.known.follow_rate !== null) ? "Follows: share of the influencer's occurrences that the target follows; others: of all other events" : "Share of moments at which it is the next event, without → with the influencer in the window"}. ${joint ? "Odds ratio, all else equal" : "Rate ratio: how many times as likely, other influencers equal"}.`;

// Where no label is chosen: what was found, or the influences, the surest first.
function showAll() {
  labelPanel.replaceChildren(
    ...(model.findings ? findingsOf(model.findings) : [make("h2", {}, "Choose a label"), ...(edges.length ? [make("h3", {}, "Influences, the surest first"), ...edgeList(edges, lineOf), make("p", { class: "key" }, `${followWords()} Ordered by the lower bound of the effect. ${model.followNote}`)] : [])]),
    ...(model.hints.length ? [make("h3", {}, "How the events were read"), make("ul", { class: "hints" }, ...model.hints.map((words) => make("li", {}, visible(words))))] : []),
    make("h3", {}, "All labels"),
    make("p", { class: "key" }, "Click a label, here or in the graph, to see all of its influences and its history states."),
    labelList());
}

// One label, or none; with an edge to it, the evidence for that one first.
function showLabel() {
  const code = state.chosen, edge = state.edge === null ? null : edges[state.edge];
  if (code === null) { showAll(); return; }
  const its = modelOf[code];
  labelPanel.replaceChildren(
    make("h2", {}, name(code)),
    make("p", {}, `${attributes.has(code) ? "An attribute of " : outcomes.has(code) ? "The outcome of " : ""}${percent(rate(code))} of ${thingsOf(code)} (${number(model.n[code])} of ${number(wholeOf(code))}).`),
    ...(outcomes.has(code) ? [model.leftOut.length ? make("p", { class: "small" }, `Of all cases whose outcome is known: ${percent(model.overall)}.`) : "", ...model.leftOut.map(([why, n]) => make("p", { class: "small" }, `Left out: ${plural(n, "case")}, ${why}.`)), ...model.notices.map((words) => make("p", { class: "small" }, `Notice: ${visible(words)}.`))] : []),
    make("div", { class: "row no-print" }, computable && !outcomes.has(code) && !isEnd(code) ? make("button", { type: "button", id: "add-to-history", onclick: () => { addToHistory(code); showTab("whatif"); } }, "Add to the what-if history") : "", make("button", { type: "button", onclick: () => open(null) }, model.findings ? "All findings" : "All labels")),
    ...(edge ? cardOf(edge) : []),
    make("h3", {}, "Influenced by"),
    ...(its ? influencesOf(code) : [make("p", { class: "quiet" }, "This label has no model here; it is one that others may depend on.")]),
    ...passagesOf(code, edge?.number),
    make("h3", {}, "Influences"), ...influencedBy(code),
    ...(its ? [
      ...(joint ? [make("h3", {}, "What its influencers do, and when"), recencyTable(code)] : [
      make("h3", {}, model.outcome ? "How likely it is, by what has happened" : "How likely it is as the next event, by history state"),
      ...tablesOf(its.target, its.outcome, code)]),
    ] : []));
}

// The states of one model and how it was found.
function tablesOf(target, outcome, code) {
  return [
    ...(target.summary.kind === "tree" ? [treeOf(target, outcome, rate(code)), make("h3", {}, "The same as a table of rules")] : []),
    stateTable(target, outcome, code),
    ...traceOf(target),
    make("p", { class: "key" }, `Score ${target.score === null ? "none" : number(target.score)}; log-likelihood ${number(target.likelihood)}.`)];
}

function labelList() {
  const box = make("div", { class: "frequencies" });
  const order = [...everyone].sort((a, b) => model.n[b] - model.n[a] || a - b);
  const more = firstOf(order, 60, box, (code) => fragment(
    nameButton(code, open), isEvent(code) ? bar(model.n[code], biggest) : make("span", { class: "quiet small" }, attributes.has(code) ? "attribute" : isEnd(code) ? "end" : "outcome"), make("span", { class: "number" }, number(model.n[code])), make("span", { class: "number quiet" }, isEnd(code) ? "" : percent(isEvent(code) ? model.n[code] / nEvents : rate(code)))));
  return make("div", {}, make("p", { class: "key" }, `Of ${plural(nEvents, "event")}.`), box, more ?? "");
}

function fragment(...parts) {
  const all = document.createDocumentFragment();
  all.append(...parts);
  return all;
}
