// What was found: the largest influences in sentences, all of them with their intervals on one axis, then what was folded away.
const mostFindings = 20;

// Twice and half as likely are equally far from 1, which is on the axis; it goes no farther than from ×0.01 to ×100.
function commonAxis(some) {
  const logs = some.flatMap(({ low, high, ratio }) => [low, high, ratio]).filter((value) => value > 0 && value < Infinity).map(Math.log10);
  const least = Math.max(-2, Math.min(-0.4, ...logs)), most = Math.min(2, Math.max(0.4, ...logs));
  const at = (ratio) => `${(6 + 88 * Math.max(0, Math.min(1, (Math.log10(ratio) - least) / (most - least)))).toFixed(1)}%`;
  return { at, ticks: [0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100].filter((tick) => Math.log10(tick) >= least - 0.01 && Math.log10(tick) <= most + 0.01 && (most - least < 2.2 || Number.isInteger(Math.log10(tick)))) };
}

const rule = (kind, x, y1, y2, to = x) => shape("line", { class: kind, x1: x, x2: to, y1, y2 });

function headOfAxis({ at, ticks }) {
  const drawn = shape("svg", { class: "plot", height: 16, "aria-hidden": "true" });
  drawn.append(...ticks.map((tick) => worded(`×${tick}`, at(tick), 12)));
  return drawn;
}

function markOnAxis(edge, { at, ticks }) {
  const drawn = shape("svg", { class: "plot", height: 18, "aria-hidden": "true" });
  drawn.append(...ticks.map((tick) => rule(tick === 1 ? "one" : "tick", at(tick), 0, 18)), rule("whisker", at(edge.low), 9, 9, at(edge.high)), shape("circle", { class: `dot ${classOf(edge)}`, cx: at(edge.ratio), cy: 9, r: 4.5 }));
  return Number.isNaN(edge.ratio) ? "" : drawn;
}

// One finding: its names and badges, and below them its numbers.
function findingRows(row, axis) {
  const edge = edges[row.edge];
  return make("tbody", {},
    make("tr", {}, make("th", { colspan: 3, scope: "rowgroup", class: classOf(edge) }, nameButton(edge.from, open), " → ", nameButton(edge.to, open), ...row.badges.map((badge) => [" ", make("span", { class: "badge" }, badge)]), " ", evidenceButton(edge), passagesButton(edge))),
    make("tr", {}, make("td", {}, markOnAxis(edge, axis), make("div", { class: "small" }, edge.times, row.limits && !/[(]|^over|^under/.test(edge.times) ? make("span", { class: "quiet" }, ` (${row.limits})`) : "")),
      make("td", {}, row.follows, make("div", { class: "quiet small" }, `others ${row.others}${edge.support ? `; ${edge.support}` : ""}`)),
      make("td", { class: "number" }, row.impact, make("div", { class: "quiet small" }, row.impactLimits))));
}

function forest(found) {
  const rows = rowsOf(found.edges), axis = commonAxis(rows.map((row) => edges[row.edge]));
  const head = (says, more) => make("th", { scope: "col", class: says === "Impact" ? "number" : null }, says, more);
  const table = make("table", { class: "influences forest" }, make("thead", {}, make("tr", {}, head("Rate ratio (95%)", headOfAxis(axis)), head("Follows"), head("Impact"))));
  const more = firstOf(rows.map((row, i) => [row, i]), mostFindings, table, ([row, i]) => fragment(
    found.beyond && i === found.beyond ? make("tbody", {}, make("tr", {}, make("th", { colspan: 3, scope: "colgroup", class: "apart" }, "Already told by the event just before:"))) : "", findingRows(row, axis)));
  return [table, more ?? ""];
}

function findingsOf(found) {
  const rows = rowsOf(found.edges), items = (some) => make("ul", { class: "influences" }, ...some.map((number) => make("li", { class: classOf(edges[number]) }, lineOf(edges[number]))));
  return [
    make("h2", {}, "What we found"),
    make("p", { class: "headline" }, told(found.headline), "."),
    ...(rows.length ? [
      make("ol", { class: "influences" }, ...found.sentences.map((words, i) => make("li", { class: classOf(edges[rows[i].edge]) }, told(words), ". ", evidenceButton(edges[rows[i].edge])))),
      make("h3", {}, rows.length === 1 ? "The finding" : `All ${number(rows.length)} findings`), ...forest(found),
      make("p", { class: "key" }, `${followWords()} Impact: how many more or fewer targets than without the influencer, other influencers equal; impacts do not add up. ${found.beyond ? "First what holds beyond the previous step (with the event just before held equal), each" : "Ordered"} by the lower bound of the impact. ${model.followNote}`)] : []),
    ...(found.nearest.length ? [make("p", {}, "More cases, or another look-back window, may show more. The nearest misses:"), items(found.nearest)] : []),
    ...[...found.chains, ...found.interplays.map((words) => `${words}.`)].map((words) => make("p", {}, told(words))),
    found.aside.length ? make("div", { class: "aside" }, make("span", {}, "Set aside:"), ...found.aside.map(([why, words, some]) => make("details", {}, make("summary", {}, words), make("p", { class: "key" }, apart[why]), items(some)))) : ""];
}
