// Names in the picture: in at most two lines, and beside their labels where least is in the way.
const nameSize = many ? 12 : 13, lineHeight = nameSize + 2;
const ruler = document.createElement("canvas").getContext("2d");
ruler.font = `${nameSize}px ${getComputedStyle(document.documentElement).fontFamily}`;
const widthOf = (text) => ruler.measureText(text).width + 4;

// A long name breaks where a word ends, the nearer to its middle the better.
function inLines(text, cells) {
  if (cellsOf(text) <= cells) return [text];
  const ends = [...text.matchAll(/[\s_\-/.:,]+/g)].map((found) => found.index + found[0].length).filter((at) => at < text.length && cellsOf(text.slice(0, at).trimEnd()) <= cells);
  if (!ends.length) return [shortened(text, Math.round(1.45 * cells))];
  const at = ends.reduce((best, each) => (Math.abs(each - text.length / 2) < Math.abs(best - text.length / 2) ? each : best));
  return [text.slice(0, at), shortened(text.slice(at), cells)];
}

let written = [], widths = [];  // names as they stand in the picture, line by line, and how wide they are there
function writeNames() {
  const cells = screen.width < 560 ? 13 : many ? 15 : 18;
  written = names.map((text) => inLines(text, cells));
  widths = written.map((lines) => Math.max(...lines.map(widthOf)));
}
const gatheredName = (code) => shortened(names[code], screen.width < 560 ? 11 : 24);

// What a label takes, seen from its middle: its circle, the name below it, and the loop above it if it has one. Where
// there is little room, letters and circles are smaller.
const loopHeight = many ? 17 : 26;
let density = 1;  // of the whole graph, as it was arranged
const sizeAt = (scale) => Math.min(1.25, Math.max(0.6, Math.sqrt(scale) * (sides.size ? 1 : density)));
const letterSize = (size) => Math.round(10 * Math.min(1, Math.max(0.8, size))) / 10;  // in few sizes: browsers are slow to change it
function roomOf(code, size) {
  const letters = letterSize(size), r = radius(code) * size, half = Math.max((widths[code] * letters) / 2, r) + 4;
  return [-half, -r - (edgeBetween.has(code * labels.length + code) ? loopHeight : 4), half, r + 5 + lineHeight * letters * written[code].length];
}

// The places for a name around a circle, as the middle of its box seen from that of the circle: the usual one first.
function spotsFor(w, h, r, loops, side) {
  if (side) return [[side * (r + 5 + w / 2), 0]];
  const below = r + 3 + h / 2, above = -(r + h / 2 + (loops ? loopHeight - 3 : 2)), beside = r + 5 + w / 2, off = r * 0.7 + w / 2;
  return [[0, below], [0, above], [beside, 0], [-beside, 0], [off, r * 0.7 + h / 2], [-off, r * 0.7 + h / 2], [off, -r * 0.7 - h / 2], [-off, -r * 0.7 - h / 2]];
}

// Circles with their names; a name is left out only where many would lie upon each other. Returns what lines end at
// and keep away from.
function drawNodes(size, lines, bends = new Map()) {
  const outlines = [], taken = new Grid(), passing = new Grid(), letters = letterSize(size);
  for (const code of shown) {
    const [x, y] = onScreen(code), r = radius(code) * size;
    const loops = lines.some(({ edge }) => edge.from === code && edge.to === code);
    outlines[code] = { x, y, r, box: null, loops };
    taken.add([x - r, y - r, x + r, y + r], code);
    if (loops) taken.add([x - r, y - r - loopHeight, x + r, y - r], -1 - code);
  }
  for (const { edge } of lines) if (edge.from !== edge.to) trail(edge, outlines, passing, bends.get(edge));
  const order = [...shown].sort((a, b) => (b === state.chosen) - (a === state.chosen) || model.n[b] - model.n[a] || a - b);
  for (const code of order) {
    const outline = outlines[code], { x, y, r } = outline, side = sides.get(code) ?? 0;
    const text = side ? [gatheredName(code)] : written[code], w = (side ? widthOf(text[0]) : widths[code]) * letters, h = lineHeight * letters * text.length;
    const isOut = (box) => x >= 0 && x <= screen.width && (box[0] < 0 || box[2] > screen.width || box[1] < 0 || box[3] > screen.height);
    const tried = spotsFor(w, h, r, outline.loops, side).map(([dx, dy], i) => {
      const box = [x + dx - w / 2, y + dy - h / 2, x + dx + w / 2, y + dy + h / 2], over = taken.meets(box, code);
      return { dx, dy, box, over, cost: over + (isOut(box) ? 2 : 0) + 0.3 * Math.min(3, passing.meets(box)) + 0.03 * i };
    });
    const best = tried.reduce((a, b) => (b.cost < a.cost ? b : a));
    const isNamed = best.over < 1 || side || shown.length <= mostNames || code === state.chosen;
    placeNode(drawnNodes[code], outline, text, best, letters);
    drawnNodes[code].classList.toggle("crowded", !isNamed);
    if (!isNamed) continue;
    outline.box = best.box;
    taken.add(best.box, code);
  }
  outlines.taken = taken;
  return outlines;
}

// Where a line runs; or will run, if nothing is in its way.
function trail(edge, outlines, passing, known) {
  const from = outlines[edge.from], to = outlines[edge.to], bend = known ?? bent([from.x, from.y], [to.x, to.y], bows[0]);
  const steps = Math.min(60, Math.ceil(Math.hypot(from.x - to.x, from.y - to.y) / 9));
  for (let i = 1; i < steps; i++) { const [x, y] = pointOf(bend, i / steps); passing.add([x - 1, y - 1, x + 1, y + 1], edge.number); }
}

function placeNode(group, { x, y, r }, text, { dx, dy }, letters) {
  const [circle, named] = group.children;
  group.setAttribute("transform", `translate(${put([x, y])})`);
  circle.setAttribute("r", r.toFixed(1));
  const points = (nameSize * letters).toFixed(1);
  if (named.getAttribute("font-size") !== points) named.setAttribute("font-size", points);
  if ([...named.children].map((line) => line.textContent).join("\n") !== text.join("\n")) {
    named.replaceChildren(...text.map((line) => { const node = shape("text"); node.textContent = line; return node; }));
    group.setAttribute("aria-label", nodeWords(Number(group.dataset.code), text.join("")));
  }
  [...named.children].forEach((line, i) => {
    line.setAttribute("x", dx.toFixed(1));
    line.setAttribute("y", (dy + (i - text.length / 2) * lineHeight * letters + 0.78 * lineHeight * letters).toFixed(1));
  });
}
