// What lines end at and keep away from: the circle of a label and the box of its name.
const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
const holds = (box, x, y, gap = 0) => x > box[0] - gap && x < box[2] + gap && y > box[1] - gap && y < box[3] + gap;

// Boxes by the part of the screen in which they lie, so that few are looked at.
class Grid {
  constructor(size = 64) { this.size = size; this.cells = new Map(); }
  *keys(box) {
    for (let i = Math.floor(box[0] / this.size); i <= Math.floor(box[2] / this.size); i++) {
      for (let j = Math.floor(box[1] / this.size); j <= Math.floor(box[3] / this.size); j++) yield i * 65537 + j;
    }
  }
  add(box, owner) {
    const added = { box, owner };
    for (const key of this.keys(box)) {
      if (!this.cells.has(key)) this.cells.set(key, []);
      this.cells.get(key).push(added);
    }
  }
  // How many other owners' boxes a box meets.
  meets(box, owner) {
    const found = new Set();
    for (const key of this.keys(box)) for (const other of this.cells.get(key) ?? []) if (other.owner !== owner && meet(box, other.box)) found.add(other.owner);
    return found.size;
  }
  at(x, y) { return this.cells.get(Math.floor(x / this.size) * 65537 + Math.floor(y / this.size)) ?? []; }
}

const isInside = (outline, [x, y], gap) => Math.hypot(x - outline.x, y - outline.y) < outline.r + gap || (outline.box !== null && holds(outline.box, x, y, gap));

// A point of the bend from one middle over a control point to the other.
function pointOf([a, c, b], t) {
  const u = (1 - t) * (1 - t), v = 2 * t * (1 - t), w = t * t;
  return [u * a[0] + v * c[0] + w * b[0], u * a[1] + v * c[1] + w * b[1]];
}

// Where on a bend a test changes its answer, between a place where it holds and one where it does not.
function border(bend, test, within, beyond) {
  for (let halving = 0; halving < 7; halving++) {
    const middle = (within + beyond) / 2;
    if (test(pointOf(bend, middle))) within = middle; else beyond = middle;
  }
  return beyond;
}

// The part of a bend between two outlines: from where it leaves one for good to where it first meets the other, which is
// the tip, and the place before it where the line gives way to its head. Null if they leave no room for it.
function between(bend, from, to, head) {
  const far = Math.hypot(bend[0][0] - bend[2][0], bend[0][1] - bend[2][1]);
  const steps = Math.max(12, Math.min(80, Math.ceil(far / 7)));
  const isFrom = (point) => isInside(from, point, 1), isTo = (point) => isInside(to, point, 2);
  const along = Array.from({ length: steps + 1 }, (_, i) => pointOf(bend, i / steps));
  const last = along.findLastIndex(isFrom), first = along.findIndex((point, i) => i > last && isTo(point));
  if (first <= last + 1) return null;
  const start = border(bend, isFrom, last / steps, (last + 1) / steps), end = border(bend, isTo, first / steps, (first - 1) / steps);
  const tip = pointOf(bend, end), isHead = ([x, y]) => Math.hypot(x - tip[0], y - tip[1]) < head;
  let back = first - 1;
  while (back > last && isHead(along[back])) back--;
  const base = back > last ? border(bend, isHead, Math.min(end, (back + 1) / steps), back / steps) : start;
  return { start, end, tip, base, steps };
}

// A part of a bend as a path: the control point of the part lies on the tangents at its ends.
function partOf([a, c, b], from, to) {
  const mix = (p, q, t) => [0, 1].map((i) => (1 - t) * p[i] + t * q[i]);
  const control = mix(mix(a, c, from), mix(c, b, from), to);
  return [pointOf([a, c, b], from), control, pointOf([a, c, b], to)];
}

// How many other labels a part of a bend runs over, by their circles or names.
function collisions(bend, { start, end, steps }, blocked, from, to) {
  const met = new Set(), isOut = (x, y) => x < 0 || y < 0 || x > screen.width || y > screen.height;
  const staysIn = !isOut(...bend[0]) && !isOut(...bend[2]);  // a line between labels in the picture does not leave it
  for (let i = 0; i <= steps; i++) {
    const [x, y] = pointOf(bend, start + ((end - start) * i) / steps);
    if (staysIn && isOut(x, y)) met.add("outside");
    for (const { box, owner } of blocked.at(x, y)) if (owner !== from && owner !== to && holds(box, x, y, 2)) met.add(owner);
  }
  return met.size;
}

// The bends to try: how far to the side, as a share of the distance, and how far before or after the middle. Of two labels
// that influence each other each line keeps to its own side.
const bows = [0.14, 0.06, 0.24, -0.1, 0.36, -0.22, 0.5, -0.36, -0.5].flatMap((bow) => [0, -0.3, 0.3].map((lean) => [bow, lean])).sort(([, a], [, b]) => Math.abs(a) - Math.abs(b));

function bent([x1, y1], [x2, y2], [bow, lean]) {
  const dx = x2 - x1, dy = y2 - y1, along = 0.5 + lean;
  return [[x1, y1], [x1 + dx * along - dy * bow, y1 + dy * along + dx * bow], [x2, y2]];
}

// A line from one label to another that meets as few others as may be, of some bends that are tried; null if there
// is no room for it.
function route(edge, outlines, blocked, head, tries) {
  const from = outlines[edge.from], to = outlines[edge.to];
  let best = null, fewest = Infinity;
  for (const way of bows.slice(0, tries)) {
    if (way[0] < 0 && edge.returns) continue;
    const bend = bent([from.x, from.y], [to.x, to.y], way);
    const part = between(bend, from, to, head) ?? between(bend, { ...from, box: null }, { ...to, box: null }, head);
    if (part === null) continue;
    const n = collisions(bend, part, blocked, edge.from, edge.to) + (Math.abs(way[0]) + Math.abs(way[1])) / 100;
    if (n < fewest) { best = { bend, met: Math.floor(n), ...part }; fewest = n; }
    if (n < 1) break;
  }
  return best;
}

// A loop above a label, where no name stands.
function loop({ x, y, r }, head) {
  const side = r * 0.6 + 2, rim = -r * 0.8, high = -r - 1.25 * loopHeight, wide = r + 0.7 * loopHeight;
  const tip = [x + side, y + rim], control = [x + wide, y + high];
  const far = Math.hypot(tip[0] - control[0], tip[1] - control[1]);
  const base = [0, 1].map((i) => tip[i] + ((control[i] - tip[i]) * head) / far);
  const path = `M${put([x - side, y + rim])} C${put([x - wide, y + high])} ${put(control)} ${put(base)}`;
  return { path, base, tip, along: [[x, y - r - 0.9 * loopHeight], [x, y - r - loopHeight - 10]] };
}

const put = ([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`;

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
