// The graph as SVG: made once, then moved, shown and faded.
const effects = ["amplifies", "inhibits", "mixed", "unclear"];
const heads = {
  amplifies: "M0,-4.5 L9,0 L0,4.5 Z",
  inhibits: "M1.5,-6 L1.5,6",
  mixed: "M0,0 L5,-4.5 L10,0 L5,4.5 Z",
  unclear: "M0,0 a4,4 0 1,0 8,0 a4,4 0 1,0 -8,0",
};
const headLength = { amplifies: 9, inhibits: 4, mixed: 10, unclear: 8 };
const state = { chosen: null, least: 0, sure: 0 };
const layers = { edges: shape("g"), heads: shape("g"), times: shape("g"), nodes: shape("g") };
const drawnEdges = [], drawnNodes = [];
const wide = (edge) => (edge.faint ? 1 : many ? 1 + Math.min(edge.evidence, 6) * 0.35 : 1.2 + Math.min(edge.evidence, 3) * 1.2);
const firmness = (edge) => (edge.confidence === undefined ? 1 : 0.2 + 0.8 * edge.confidence);

// Edges are made when they are first shown: of a large graph that is a part.
function makeEdge(edge) {
  const line = shape("path", { class: `edge ${classOf(edge)}`, "stroke-width": wide(edge).toFixed(2) });
  const head = shape("path", { class: `head ${classOf(edge)}`, d: heads[edge.effect] });
  const hit = shape("path", { class: quoted ? "hit quoted" : "hit", "data-edge": edge.number });
  const times = shape("text", { class: `times ${classOf(edge)}`, dy: "3.5" });
  times.textContent = edge.times;
  for (const part of [line, head]) part.style.setProperty("--firm", firmness(edge));
  hit.addEventListener("pointermove", (event) => showTip([make("div", {}, name(edge.from), " → ", name(edge.to)), edgeWords(edge), quoted ? `; click for ${plural(quoted.edges[edge.number][0], "passage")}` : ""], event.clientX, event.clientY));
  hit.addEventListener("pointerleave", hideTip);
  layers.edges.append(line, hit);
  layers.heads.append(head);
  layers.times.append(times);
  return { edge, line, head, hit, times, parts: [line, head, hit, times] };
}

function build() {
  picture.append(...Object.values(layers));
  for (const code of everyone) {
    const group = shape("g", { class: "node", tabindex: "0", role: "button", "data-code": code, "aria-label": nodeWords(code) });
    const text = shape("text", { class: "name" });
    const sign = shape("text", { class: "sign", y: "4" });  // of what a history changes
    group.append(shape("circle", { r: radius(code).toFixed(1) }), text, sign);
    const note = (x, y) => showTip([make("div", {}, name(code)), nodeNumbers(code)], x, y);
    group.addEventListener("pointermove", (event) => note(event.clientX, event.clientY));
    group.addEventListener("pointerleave", hideTip);
    group.addEventListener("focus", () => {
      if (!group.matches(":focus-visible")) return;
      reveal(code);
      const box = group.getBoundingClientRect();
      note(box.left + box.width / 2, box.bottom - 6);
    });
    group.addEventListener("blur", hideTip);
    layers.nodes.append(group);
    drawnNodes.push(group);
  }
}

function explainLines() {
  const legend = document.getElementById("legend");
  for (const effect of effects.filter((each) => edges.some((edge) => edge.effect === each))) {
    const sample = shape("svg", { viewBox: "0 0 44 12", "aria-hidden": "true" });
    sample.append(shape("path", { class: `edge ${effect}`, "stroke-width": 2, d: "M1,6 L33,6" }), shape("path", { class: `head ${effect}`, d: heads[effect], transform: "translate(33,6)" }));
    legend.append(make("li", {}, sample, effect));
  }
  if (edges.length) legend.append(make("li", {}, "×2: twice as likely after it, other influencers equal; wider: more of it is sure", edges.some((edge) => edge.faint) ? `; grey: ${[...new Set(edges.map((edge) => edge.faint).filter(Boolean))].join(" or ")}` : "", edges.some((edge) => edge.confidence !== undefined) ? ", paler is less sure" : ""));
  else legend.append(make("li", {}, model.targets.some(byLabel) ? "No influences were found." : "This kind of model looks at the last events themselves; it has no influences of single labels to draw."));
}

const nodeNumbers = (code) => `${percent(rate(code))} of events (${number(model.n[code])}); ${modelOf[code] ? `influenced by ${incoming[code].length}, ` : ""}influences ${outgoing[code].length}`;
const nodeWords = (code) => `${names[code]}, ${nodeNumbers(code)}`;

const strongEnough = (edge) => edge.evidence >= state.least - 1e-9 && (edge.confidence === undefined || edge.confidence >= state.sure);
const touches = (edge) => state.chosen === edge.from || state.chosen === edge.to;
const selfLoops = (code) => (incoming[code].some((edge) => edge.from === code) ? 1 : 0);
const adding = () => picture.classList.contains("adding");
const gathered = () => many && state.chosen !== null;

// What is shown: all strong edges; with a chosen label all of its own, the others faded or, in a large graph, gone.
function choose() {
  const near = new Set(state.chosen === null ? [] : [state.chosen]);
  const drawn = (code) => !gathered() || code === state.chosen || sides.has(code);
  const linked = new Set();
  let n = 0;
  for (const edge of edges) {
    const own = touches(edge);
    const shown = (state.chosen === null ? strongEnough(edge) : own || (!many && strongEnough(edge))) && drawn(edge.from) && drawn(edge.to);
    if (shown) drawnEdges[edge.number] ??= makeEdge(edge);
    const parts = drawnEdges[edge.number]?.parts ?? [];
    for (const part of parts) {
      part.classList.toggle("gone", !shown);
      part.classList.toggle("faded", shown && state.chosen !== null && !own && !adding());
    }
    if (own && shown) { near.add(edge.from); near.add(edge.to); }
    if (shown) { linked.add(edge.from); linked.add(edge.to); n++; }
  }
  drawnNodes.forEach((group, code) => {
    const away = state.chosen !== null && !near.has(code);
    group.classList.toggle("gone", gathered() && away);
    group.classList.toggle("faded", !gathered() && away && !adding());
    group.classList.toggle("bare", many && state.chosen === null && !linked.has(code));
    group.classList.toggle("near", state.chosen !== null && near.has(code) && code !== state.chosen);
    group.classList.toggle("chosen", code === state.chosen);
    group.setAttribute("aria-pressed", code === state.chosen);
  });
  const all = edges.length;
  document.getElementById("shown").textContent = !all ? "" : state.chosen === null
    ? (n < all ? `${number(n)} of ${plural(all, "influence")} shown` : plural(all, "influence"))
    : `${number(incoming[state.chosen].length)} in, ${number(outgoing[state.chosen].length)} out${n < incoming[state.chosen].length + outgoing[state.chosen].length - selfLoops(state.chosen) && many ? " (the strongest are drawn)" : ""}`;
  document.getElementById("leave").hidden = state.chosen === null;
}

function draw() {
  keepInView();
  const at = everyone.map(onScreen);
  const size = Math.min(1.25, Math.max(0.6, Math.sqrt(view.scale)));
  const taken = drawNodes(at, size);
  drawEdges(at, size, taken);
}

const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// Circles, and names below them; or above or beside where there is more room; or not, if there are very many.
function drawNodes(at, size) {
  const shown = everyone.filter((code) => !drawnNodes[code].classList.contains("gone"));
  const discs = new Map(shown.map((code) => {
    const [x, y] = at[code], r = radius(code) * size;
    return [code, [x - r, y - r, x + r, y + r]];
  }));
  const taken = [];
  shown.sort((a, b) => (b === state.chosen) - (a === state.chosen) || model.n[b] - model.n[a] || a - b);
  for (const code of shown) {
    const group = drawnNodes[code], [x, y] = at[code], r = radius(code) * size;
    group.setAttribute("transform", `translate(${x.toFixed(1)},${y.toFixed(1)})`);
    group.firstChild.setAttribute("r", r.toFixed(1));
    const side = sides.get(code) ?? 0, half = widths[code] / 2, next = r + 6 + half;
    const spots = side ? [[side * next, 4.5]] : [[0, r + 14], [0, -r - 6], [next, 4.5], [-next, 4.5]];
    const boxes = spots.map(([dx, dy]) => [x + dx - half, y + dy - 11, x + dx + half, y + dy + 3]);
    const inside = (box) => (box[0] >= 0 && box[2] <= screen.width) || x < 0 || x > screen.width;
    const free = boxes.findIndex((box) => inside(box) && !taken.some((other) => meet(box, other)) && !shown.some((other) => other !== code && meet(box, discs.get(other))));
    const spot = Math.max(free, 0), text = group.children[1];
    below[code] = spot === 0 && !side;
    text.setAttribute("x", (side ? side * (r + 6) : spots[spot][0]).toFixed(1));
    text.setAttribute("y", spots[spot][1].toFixed(1));
    text.style.textAnchor = side ? (side < 0 ? "end" : "start") : "middle";
    text.textContent = side ? gatheredName(code) : written[code];
    const named = !group.matches(".bare, .faded");
    group.classList.toggle("crowded", named && many && free < 0 && !side && code !== state.chosen);
    if (named && (free >= 0 || !many)) taken.push(boxes[spot]);
  }
  return taken;
}
const below = [];  // whether a label has its name below it

function drawEdges(at, size, taken) {
  const shown = drawnEdges.filter(({ line }) => !line.classList.contains("gone"));
  const tell = shown.length <= 45 || view.scale > 1.5;
  for (const { edge, line, head, hit, times } of shown) {
    const bend = curve(at[edge.from], at[edge.to], radius(edge.from) * size, rim(edge.to, size), edge);
    line.setAttribute("d", bend.path);
    hit.setAttribute("d", bend.path);
    head.setAttribute("transform", `translate(${bend.tip.map((v) => v.toFixed(1))}) rotate(${bend.angle.toFixed(1)})`);
    const told = tell && !line.classList.contains("faded") && edge.effect !== "unclear";
    const half = 3.3 * times.textContent.length;
    const boxAt = ([x, y]) => [x - half, y - 6, x + half, y + 6];
    const free = told ? bend.along.find((spot) => !taken.some((other) => meet(boxAt(spot), other))) : undefined;
    times.classList.toggle("gone", free === undefined);
    if (free === undefined) continue;
    times.setAttribute("x", free[0].toFixed(1));
    times.setAttribute("y", free[1].toFixed(1));
    taken.push(boxAt(free));
  }
}

// How far from its middle a line to a label ends: at its circle, or below its name where it comes from there.
function rim(code, size) {
  const r = radius(code) * size;
  const named = below[code] && !drawnNodes[code].matches(".bare, .crowded");
  return ([, y]) => (y > 0.6 && named ? (r + 19) / y : r);
}

// A line from the rim of one label to that of another, bent so that the way back is another line; or a loop.
function curve([x1, y1], [x2, y2], r1, r2, edge) {
  const gap = headLength[edge.effect] + 2;
  if (edge.from === edge.to) {
    const r = r1 + 2, up = y1 - r;
    const path = `M${(x1 - r * 0.6).toFixed(1)},${(y1 - r * 0.75).toFixed(1)} C${(x1 - r - 16).toFixed(1)},${(up - 30).toFixed(1)} ${(x1 + r + 16).toFixed(1)},${(up - 30).toFixed(1)} ${(x1 + r * 0.6 + gap * 0.45).toFixed(1)},${(y1 - r * 0.75 - gap * 0.85).toFixed(1)}`;
    return { path, tip: [x1 + r * 0.6 + gap * 0.45, y1 - r * 0.75 - gap * 0.85], angle: 118, along: [[x1, up - 24], [x1, up - 34]] };
  }
  const dx = x2 - x1, dy = y2 - y1, far = Math.hypot(dx, dy) || 1;
  const bow = Math.min(0.16 * far, 46);
  const mx = (x1 + x2) / 2 - (dy / far) * bow, my = (y1 + y2) / 2 + (dx / far) * bow;
  const out = unit(mx - x1, my - y1), back = unit(mx - x2, my - y2);
  const from = r1 + 1, to = r2(back) + gap;
  const start = [x1 + out[0] * from, y1 + out[1] * from];
  const end = [x2 + back[0] * to, y2 + back[1] * to];
  return {
    path: `M${start.map((v) => v.toFixed(1))} Q${mx.toFixed(1)},${my.toFixed(1)} ${end.map((v) => v.toFixed(1))}`,
    tip: end, angle: (Math.atan2(-back[1], -back[0]) * 180) / Math.PI,
    along: [0.5, 0.4, 0.6, 0.3, 0.7].map((t) => [0, 1].map((i) => (1 - t) ** 2 * start[i] + 2 * t * (1 - t) * [mx, my][i] + t * t * end[i])),
  };
}
function unit(x, y) { const size = Math.hypot(x, y) || 1; return [x / size, y / size]; }

function refresh() { choose(); draw(); }

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
  fit();
}

function focusOn(code) {
  const before = gathered();
  state.chosen = code;
  if (before || gathered()) settle();
  refresh();
}
