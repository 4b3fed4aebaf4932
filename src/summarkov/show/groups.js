// Groups of sequences side by side, if the page was given what was found of them.
const groupsPanel = document.getElementById("panel-groups");
const groupShapes = ["circle", "square", "diamond"];
let comparison = 0;  // which of several

const isSure = ([, low, high]) => (low !== null && endless(low) > 1) || (high !== null && endless(high) < 1);
const changeWords = ([ratio, low, high]) => (ratio === null && low === null ? "not known" : [make(isSure([ratio, low, high]) ? "strong" : "span", {}, factor(endless(ratio)) || "?"), make("div", { class: "quiet small" }, `${factor(endless(low)) || "0"} to ${factor(endless(high)) || "?"}`)]);

function buildGroups() {
  document.getElementById("tab-groups").hidden = false;
  if (model.groups.length > 1) {
    const choice = make("select", { id: "which-groups", onchange: (event) => { comparison = Number(event.target.value); showGroups(); } }, ...model.groups.map(({ names }, i) => make("option", { value: i }, names.map(visible).join(" and "))));
    groupsPanel.append(make("label", { class: "small which" }, "Groups ", choice));
  }
  groupsPanel.append(make("div", { id: "compared" }));
  showGroups();
}

function showGroups() {
  const { names, sizes, level, labels: those, edges: found } = model.groups[comparison];
  const sureLabels = those.filter(([, , reach]) => isSure(reach)).length, sureEdges = found.filter(([, , , change]) => isSure(change)).length;
  const by = [visible(names[1]), " by ", visible(names[0])], percentages = Math.round(100 * level);
  document.getElementById("compared").replaceChildren(
    make("h2", {}, joined(names.map((each) => make("bdi", {}, visible(each))), " and ")),
    make("p", {}, ...joined(names.map((each, i) => [groupKey(i), " ", visible(each), `, ${plural(sizes[i], "sequence")}`]), "; ").flat(), `. ${sureLabels} of ${plural(those.length, "label")} and ${sureEdges} of ${plural(found.length, "influence")} surely differ.`),
    make("h3", {}, "Labels: in which share of the sequences they occur"), labelsOf(those, by),
    make("h3", {}, "Influences: how many times as likely"), ...(found.length ? influencesIn(found, by) : [make("p", { class: "quiet" }, "No influence was found in either group, nor in both together.")]),
    make("p", { class: "key" }, by, `: how many times as large, with a ${percentages}% interval that allows for all rows of its table; bold where that leaves out 1. A hollow mark: the graph of that group alone does not have the influence.`));
}

// A mark of a group: by its form, not by a colour, which tells effects.
function groupMark(i, x, y, isHollow = false) {
  const look = { class: isHollow ? "group hollow" : "group" }, r = 4.5;
  if (groupShapes[i % 3] === "circle") return shape("circle", { ...look, cx: x, cy: y, r });
  if (groupShapes[i % 3] === "square") return shape("rect", { ...look, x: x - r, y: y - r, width: 2 * r, height: 2 * r });
  return shape("path", { ...look, d: `M${x - r - 1},${y} L${x},${y - r - 1} L${x + r + 1},${y} L${x},${y + r + 1} Z` });
}
function groupKey(i) {
  const drawn = shape("svg", { viewBox: "0 0 12 12", class: "sign-of-group", "aria-hidden": "true" });
  drawn.append(groupMark(i, 6, 6));
  return drawn;
}

const groupTable = (kind, heads, rows, row) => {
  const body = make("tbody", {}), more = firstOf(rows, 30, body, row);
  return make("div", {}, make("table", { class: `grouped ${kind}` }, make("thead", {}, make("tr", {}, ...heads.map((each) => make("th", { scope: "col" }, each)))), body), more ?? "");
};

function labelsOf(those, by) {
  const { names } = model.groups[comparison], x = (share) => 8 + 124 * share;
  return groupTable("labels", ["Label", "Reach", by], those, ([code, reach, reachBy]) => {
    const drawn = shape("svg", { viewBox: "0 0 140 18", class: "plot", role: "img", "aria-label": reach.map((each, i) => `${names[i]}: ${percent(each)}`).join(", ") });
    drawn.append(shape("path", { class: "tick", d: "M8,9 H132" }), ...reach.map((each, i) => groupMark(i, x(each), 9)));
    return make("tr", { "data-code": code }, make("td", {}, nameButton(code, open)), make("td", {}, drawn, make("span", { class: "small" }, reach.map(percent).join(" → "))), make("td", {}, changeWords(reachBy)));
  });
}

function influencesIn(found, by) {
  const reach = Math.max(Math.log(2), ...found.flatMap(([, , groups]) => groups.flatMap(([ratio, low, high]) => [ratio, low, high].map(endless).filter((value) => value > 0 && value < Infinity).map((value) => Math.min(Math.abs(Math.log(value)), Math.log(100))))));
  const ticks = [0.01, 0.1, 0.5, 1, 2, 10, 100].filter((value) => Math.abs(Math.log(value)) <= reach);
  const head = shape("svg", { viewBox: "0 0 200 14", class: "plot", "aria-hidden": "true" });
  for (const tick of ticks) head.append(worded(`×${tick}`, ratioPlace(tick, reach), 11));
  return [groupTable("influences", ["Influence", ["Ratio in each group", head], by], found, ([from, to, groups, change]) => {
    const edge = edgeBetween.get(from * labels.length + to);
    return make("tr", { "data-from": from, "data-to": to }, make("td", {}, nameButton(from, open), " → ", from === to ? "itself" : nameButton(to, open), edge ? [" ", evidenceButton(edge)] : ""), make("td", {}, ratiosOf(groups, reach, ticks)), make("td", {}, changeWords(change)));
  })];
}

const ratioPlace = (ratio, reach) => 100 + 92 * Math.max(-1, Math.min(1, Math.log(ratio) / reach));

// The ratio of each group with its interval, one below the other, and their rates.
function ratiosOf(groups, reach, ticks) {
  const { names } = model.groups[comparison], high = 18 * groups.length, at = (ratio) => ratioPlace(ratio, reach);
  const words = groups.map(([ratio, , , hits, n, hitsOtherwise, nOtherwise]) => `${factor(endless(ratio)) || "?"}: next event at ${rateOf(hits, n)} of moments with it, otherwise ${rateOf(hitsOtherwise, nOtherwise)}`);
  const drawn = shape("svg", { viewBox: `0 0 200 ${high}`, class: "plot", role: "img", "aria-label": words.map((each, i) => `${names[i]} ${each}`).join("; ") });
  for (const tick of ticks) drawn.append(shape("path", { class: tick === 1 ? "one" : "tick", d: `M${at(tick)},0 V${high}` }));
  groups.forEach(([ratio, low, top, , , , , isFound], i) => {
    const y = 18 * i + 9;
    if (low !== null && top !== null) drawn.append(shape("path", { class: "whisker", d: `M${at(endless(low))},${y} H${at(endless(top))}` }));
    if (ratio !== null) drawn.append(groupMark(i, at(endless(ratio)), y, !isFound));
  });
  return make("div", {}, drawn, ...words.map((each, i) => make("div", { class: "small" }, groupKey(i), " ", each)));
}
