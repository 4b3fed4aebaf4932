// The graph as SVG: made once, then moved, shown and faded.
const effects = ["amplifies", "inhibits", "mixed", "unclear"];
const heads = {
  amplifies: "M0,-4.5 L9,0 L0,4.5 Z",
  inhibits: "M1.5,-6 L1.5,6",
  mixed: "M0,0 L5,-4.5 L10,0 L5,4.5 Z",
  unclear: "M0,0 a4,4 0 1,0 8,0 a4,4 0 1,0 -8,0",
};
const headLength = { amplifies: 9, inhibits: 3, mixed: 10, unclear: 8 };
const mostDrawn = 200;  // more lines than this tell nobody anything
const mostNames = 120;  // of more labels those have no name that would lie upon another
const world = shape("g");
const layers = { edges: shape("g"), heads: shape("g"), times: shape("g"), nodes: shape("g") };
const drawnEdges = [], drawnNodes = [];
const wide = (evidence) => 1.2 + (many ? 3 : 4.3) * (largest ? evidence / largest : 0);
const firmness = (edge) => (edge.confidence === undefined ? 1 : 0.7 + 0.3 * edge.confidence);

// Edges are made when they are first shown: of a large graph that is a part.
function makeEdge(edge) {
  const line = shape("path", { class: `edge ${classOf(edge)}`, "stroke-width": wide(edge.evidence).toFixed(2) });
  const head = shape("path", { class: `head ${classOf(edge)}`, d: heads[edge.effect] });
  const hit = shape("path", { class: "hit", "data-edge": edge.number, role: "img", "aria-label": shortWords(edge) });
  const factor = shape("text", { class: `times ${classOf(edge)}`, dy: "3.5", "aria-hidden": "true" });
  factor.textContent = edge.times;
  for (const part of [line, head]) part.style.setProperty("--firm", firmness(edge));
  hit.addEventListener("pointermove", (event) => showTip([make("div", {}, name(edge.from), " → ", name(edge.to)), sentenceOf(edge), quoted ? `; click for ${plural(quoted.edges[edge.number][0], "passage")}` : ""], event.clientX, event.clientY));
  hit.addEventListener("pointerleave", hideTip);
  layers.edges.append(line, hit);
  layers.heads.append(head);
  layers.times.append(factor);
  return { edge, line, head, hit, factor, parts: [line, head, hit, factor] };
}

function build() {
  world.append(...Object.values(layers));
  picture.append(world);
  for (const code of everyone) {
    const group = shape("g", { class: "node", tabindex: "-1", role: "button", "data-code": code, "aria-label": nodeWords(code, names[code]) });
    const text = shape("g", { class: "name" });
    const sign = shape("text", { class: "sign", y: "4" });  // of what a history changes
    group.append(shape("circle", { r: radius(code).toFixed(1) }), text, sign);
    const note = (x, y) => showTip([make("div", {}, name(code)), nodeNumbers(code)], x, y);
    group.addEventListener("pointermove", (event) => note(event.clientX, event.clientY));
    group.addEventListener("pointerleave", hideTip);
    group.addEventListener("focus", () => {
      stopAt(code);
      if (!group.matches(":focus-visible")) return;
      reveal(code);
      const box = group.getBoundingClientRect();
      note(box.left + box.width / 2, box.bottom - 6);
    });
    group.addEventListener("blur", hideTip);
    layers.nodes.append(group);
    drawnNodes[code] = group;
  }
}

// How influences are drawn, in the graph or in the matrix.
function explain() {
  const isMatrix = state.view === "matrix", items = [];
  const sample = (effect, width, faint = "") => {
    const drawn = shape("svg", { viewBox: isMatrix ? "0 0 16 12" : "0 0 44 12", class: isMatrix ? "short" : "", "aria-hidden": "true" });
    if (isMatrix) drawn.append(markOf(effect, 8, 6, width, faint));
    else drawn.append(shape("path", { class: `edge ${effect} ${faint}`, "stroke-width": width, d: "M1,6 L33,6" }), shape("path", { class: `head ${effect} ${faint}`, d: heads[effect], transform: "translate(33,6)" }));
    return drawn;
  };
  const [usual, small, large] = isMatrix ? [5, 3.5, 7] : [2, wide(0.25 * largest), wide(largest)];
  if (chainTargets) items.push("Squares: the larger, the more often the label of the column comes next after that of the row.");
  else if (!edges.length) items.push(targets.some(byLabel) ? "No influences were found." : "This kind of model looks at the last events themselves; it has no influences of single labels to draw.");
  for (const effect of effects.filter((each) => edges.some((edge) => edge.effect === each))) items.push([sample(effect, usual), effect]);
  const greys = [...new Set(edges.map((edge) => edge.faint).filter(Boolean))], other = greys.filter((why) => why !== "crowding out");
  if (other.length) items.push([sample("amplifies", isMatrix ? 4 : 1.2, "faint"), `grey: ${other.join(" or ")}`]);
  if (other.length < greys.length) items.push([sample("inhibits", isMatrix ? 4 : 1.2, "faint crowding"), "crowding out: other events becoming more or less likely explain most of it"]);
  if (largest > 0) items.push([isMatrix ? "size" : "width", ": lower bound of the effect, ", sample("amplifies", small), `${factor(Math.exp(0.25 * largest))} `, sample("amplifies", large), factor(Math.exp(largest))]);
  if (edges.length && !isMatrix) items.push([joint ? "×2: twice the odds with it in the window, all else equal" : model.outcome ? "×2: twice as likely with it, other influencers equal" : "×2: twice as likely as the next event with it in the window, other influencers equal", edges.some((edge) => edge.confidence !== undefined) ? "; paler: less sure" : ""]);
  document.getElementById("legend").replaceChildren(...items.map((item) => make("li", {}, item)));
}

const nodeNumbers = (code) => `${percent(rate(code))} of ${thingsOf(code)} (${number(model.n[code])}); ${modelOf[code] ? `influenced by ${incoming[code].length}, ` : ""}influences ${outgoing[code].length}`;
const nodeWords = (code, seen) => `${seen === names[code] ? "" : `${seen}, in full `}${names[code]}, ${nodeNumbers(code)}`;

const adding = () => picture.classList.contains("adding");
const gathered = () => many && state.chosen !== null;
let shown = [];  // the labels in the picture

// What is shown: the edges that pass the filter, at most a given number; with a chosen label its own, the others faded
// or, in a large graph, gone. A large graph leaves out labels that influence only themselves: the lists have these.
function choose() {
  const passing = edges.filter((edge) => passes(edge) && (!gathered() || (touches(edge) && [edge.from, edge.to].every((code) => code === state.chosen || sides.has(code)))));
  const joined = new Set(passing.filter((edge) => edge.from !== edge.to).flatMap((edge) => [edge.from, edge.to]));
  const alone = many && state.chosen === null && joined.size ? passing.filter((edge) => !joined.has(edge.from)) : [];
  const drawn = new Set(passing.filter((edge) => !alone.includes(edge)).slice(0, mostDrawn).map((edge) => edge.number));
  if (state.edge !== null) drawn.add(state.edge);
  const near = new Set(state.chosen === null ? [] : [state.chosen]), linked = new Set(near);
  for (const edge of edges) {
    const isDrawn = drawn.has(edge.number);
    if (isDrawn) {
      drawnEdges[edge.number] ??= makeEdge(edge);
      for (const code of [edge.from, edge.to]) { linked.add(code); if (touches(edge)) near.add(code); }
    }
    for (const part of drawnEdges[edge.number]?.parts ?? []) {
      part.classList.toggle("gone", !isDrawn);
      part.classList.toggle("faded", isDrawn && state.chosen !== null && !touches(edge) && !adding());
      part.classList.toggle("asked", edge.number === state.edge);
    }
  }
  const all = (!many && filter.show !== "found") || (!linked.size && !gathered());
  shown = everyone.filter((code) => (gathered() ? near.has(code) : all || linked.has(code)));
  const there = new Set(shown);
  drawnNodes.forEach((group, code) => {
    const away = state.chosen !== null && !near.has(code);
    group.classList.toggle("gone", !there.has(code));
    group.classList.toggle("faded", away && !adding());
    group.classList.toggle("near", state.chosen !== null && near.has(code) && code !== state.chosen);
    group.classList.toggle("chosen", code === state.chosen);
    group.setAttribute("aria-pressed", code === state.chosen);
  });
  if (!there.has(stop)) stopAt(state.chosen ?? shown[0] ?? 0);
  tellShown(drawn.size, alone.length);
}

function tellShown(n, alone) {
  const passing = edges.filter(isThrough).length, all = edges.length;
  const words = !all ? "" : passing < all ? `${number(passing)} of ${plural(all, "edge")} pass the filter` : `${plural(all, "edge")}${edges.some((edge) => edge.aside) ? `, ${number(edges.filter((edge) => !edge.aside).length)} of them not set aside` : ""}`;
  const cut = state.chosen === null && n + alone < passing ? `; the ${number(n)} surest are drawn, the matrix and the saved table have all` : "";
  const itself = alone ? `; ${plural(alone, "label")} with an influence only on ${alone === 1 ? "itself" : "themselves"} not drawn` : "";
  const away = state.chosen === null && shown.length + alone < everyone.length ? `; ${plural(everyone.length - shown.length - alone, "label")} without any not drawn` : "";
  const its = state.chosen === null ? "" : `: ${number(incoming[state.chosen].length)} in, ${number(outgoing[state.chosen].length)} out${gathered() && n < incoming[state.chosen].length + outgoing[state.chosen].filter((edge) => edge.from !== edge.to).length ? " (the surest are drawn)" : ""}`;
  document.getElementById("shown").replaceChildren(words, cut, itself, away, ...(its ? ["; ", name(state.chosen), its] : []));
  document.getElementById("leave").hidden = state.chosen === null;
}

// Everything in its place; while a label is dragged, in haste.
function draw(isMoving = false) {
  clearTimeout(resting);
  if (!shown.length) return;
  keepInView(shown);
  world.removeAttribute("transform");
  Object.assign(placedFor, view);
  const lines = drawnEdges.filter((each) => each && !each.line.classList.contains("gone"));
  const size = sizeAt(view.scale), tries = isMoving || lines.length > 150 ? 1 : bows.length;  // among very many lines nobody follows one
  drawEdges(lines, tries > 1 ? bestNames(size, lines, tries) : drawNodes(size, lines), tries);
}

// Names are placed again and again, once it is known where lines run; of some rounds that in which fewest are run over.
function bestNames(size, lines, tries) {
  let bends = new Map(), best = { met: Infinity }, outlines = null;
  for (let round = 0; round < 3 && best.met > 0; round++) {
    outlines = drawNodes(size, lines, bends);
    const routes = lines.filter(({ edge }) => edge.from !== edge.to).map(({ edge }) => [edge, route(edge, outlines, outlines.taken, headLength[edge.effect], tries)]);
    const met = sumOf(routes.map(([, found]) => found?.met ?? 0));
    if (met < best.met) best = { met, bends, outlines };
    bends = new Map(routes.map(([edge, found]) => [edge, found?.bend]));
  }
  return best.outlines === outlines ? outlines : drawNodes(size, lines, best.bends);
}

function drawEdges(lines, outlines, tries) {
  const tell = lines.filter(({ line }) => !line.classList.contains("faded")).length <= 45 || view.scale > 1.5;
  const spots = [];
  for (const { edge, line, head, hit, factor } of lines) {
    const length = headLength[edge.effect];
    const drawn = edge.from === edge.to ? loop(outlines[edge.from], length) : traced(route(edge, outlines, outlines.taken, length, tries));
    for (const part of [line, head, hit]) part.classList.toggle("hidden", drawn === null);
    factor.classList.add("hidden");
    if (drawn === null) continue;
    line.setAttribute("d", drawn.path);
    hit.setAttribute("d", drawn.path);
    const angle = (Math.atan2(drawn.tip[1] - drawn.base[1], drawn.tip[0] - drawn.base[0]) * 180) / Math.PI;
    head.setAttribute("transform", `translate(${put(drawn.base)}) rotate(${angle.toFixed(1)})`);
    if (tell && !line.classList.contains("faded") && factor.textContent) spots.push([factor, drawn.along]);
  }
  for (const [factor, along] of spots) {
    const half = 3.5 * factor.textContent.length + 4;
    const boxAt = ([x, y]) => [x - half, y - 7, x + half, y + 7];
    const free = along.find((spot) => outlines.taken.meets(boxAt(spot)) === 0 && boxAt(spot)[1] > 0);
    factor.classList.toggle("hidden", free === undefined);
    if (free === undefined) continue;
    factor.setAttribute("x", free[0].toFixed(1));
    factor.setAttribute("y", free[1].toFixed(1));
    outlines.taken.add(boxAt(free), factor);
  }
}

function traced(found) {
  if (found === null) return null;
  const [a, c, b] = partOf(found.bend, found.start, found.base);
  const along = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].map((t) => pointOf(found.bend, found.start + (found.end - found.start) * t));
  return { path: `M${put(a)} Q${put(c)} ${put(b)}`, base: b, tip: found.tip, along };
}

// Bring a label that has the keyboard's focus into the picture.
function reveal(code) {
  const [x, y] = onScreen(code), edge = 30;
  if (x > edge && y > edge && x < screen.width - edge && y < screen.height - edge) return;
  view.x += (x - screen.width / 2) / view.scale;
  view.y += (y - screen.height / 2) / view.scale;
  draw();
}

// The places and the view that belong to what is chosen.
function settle() {
  if (gathered()) return gather(state.chosen);
  if (sides.size) places = home.map((place) => [...place]);
  sides.clear();
  if (shown.length) fit(shown);
}

// After another choice of labels or edges. Other labels may be shown then, and are arranged anew.
function refresh() {
  if (gathered()) gather(state.chosen);
  else if (sides.size) { sides.clear(); places = home.map((place) => [...place]); }
  const before = shown.join();
  choose();
  if (!gathered() && shown.length && before !== shown.join()) { arrange(shown); fit(shown); }
  if (state.view === "matrix") drawMatrix(); else draw();
}
