// Where everything stands on the screen: places are kept in the picture's own units, of which a view shows a part.
const picture = document.getElementById("picture");
const many = labels.length > 40;
const biggest = Math.max(...everyone.filter(isEvent).map((code) => model.n[code]), 1);
const radius = (code) => (many ? 4 : 6) + (many ? 11 : screen.width < 560 ? 9 : 15) * Math.sqrt(isEvent(code) ? model.n[code] / biggest : rate(code));
const state = { chosen: null, edge: null, view: "graph" };  // a label, the number of an edge to it, graph or matrix

const view = { x: 0, y: 0, scale: 1 };
const screen = { width: 0, height: 0 };
let home = [];  // places of the whole graph
let places = [];  // places now, which may be those around a chosen label

const onScreen = (code) => [(places[code][0] - view.x) * view.scale, (places[code][1] - view.y) * view.scale];

function measure() {
  const box = document.getElementById("stage").getBoundingClientRect();
  screen.width = Math.max(box.width, 120);
  screen.height = Math.max(box.height, 120);
}

// Stretch the layout of the labels that are shown to the screen, then push apart what overlaps, within bounds that are
// larger than the screen where there are many labels. Sizes are in pixels at scale 1.
function arrange(shown) {
  measure();
  writeNames();
  const sizes = [screen.width - 2 * margin, screen.height - 2 * margin];
  let boxes = new Map(), room = 1;
  for (density of [1, 0.8]) {  // smaller letters before a larger picture
    boxes = new Map(shown.map((code) => [code, roomOf(code, density)]));
    const area = [...boxes.values()].reduce((sum, [left, top, right, bottom]) => sum + (right - left) * (bottom - top), 0);
    room = Math.max(1, Math.sqrt((1.7 * area) / (sizes[0] * sizes[1])));
    if (room === 1) break;
  }
  home = model.places.map((place) => [...place]);
  for (const i of [0, 1]) {
    const before = Math.max(...shown.map((code) => -boxes.get(code)[i])), after = Math.max(...shown.map((code) => boxes.get(code)[i + 2]));
    const [least, most] = extent(home, shown, i), inner = sizes[i] * room - Math.min(before + after, sizes[i] / 2);
    for (const place of home) place[i] = Math.min(before, sizes[i] / 4) + ((place[i] - least) / (most - least || 1)) * inner;
  }
  spread(home, shown, boxes, sizes.map((size) => size * room));
  places = home.map((place) => [...place]);
}
const margin = 8;

const extent = (places, shown, i) => shown.reduce(([least, most], code) => [Math.min(least, places[code][i]), Math.max(most, places[code][i])], [Infinity, -Infinity]);

function spread(places, shown, boxes, bounds) {
  for (let round = 0; round < 120; round++) {
    let moved = false;
    for (let i = 0; i < shown.length; i++) {
      for (let j = i + 1; j < shown.length; j++) {
        const a = shown[i], b = shown[j], p = boxes.get(a), q = boxes.get(b);
        const dx = places[b][0] - places[a][0], dy = places[b][1] - places[a][1];
        const overX = dx < 0 ? q[2] - p[0] + dx : p[2] - q[0] - dx, overY = dy < 0 ? q[3] - p[1] + dy : p[3] - q[1] - dy;
        if (overX <= 0 || overY <= 0) continue;
        moved = true;
        const along = overX < overY ? 0 : 1;  // the shorter way out
        const push = (along ? overY : overX) / 2 + 0.5, sign = (along ? dy : dx) < 0 ? -1 : 1;
        places[a][along] -= sign * push;
        places[b][along] += sign * push;
      }
    }
    for (const code of shown) {
      for (const i of [0, 1]) places[code][i] = Math.max(-boxes.get(code)[i], Math.min(bounds[i] - boxes.get(code)[i + 2], places[code][i]));
    }
    if (!moved) break;
  }
}

// Show all labels that are shown at all. Names do not shrink with the picture, so the scale is approached in steps.
function fit(shown) {
  const sizes = [screen.width - 2 * margin, screen.height - 2 * margin];
  let scale = 1, ends = [];
  for (let step = 0; step < 6; step++) {
    const boxes = new Map(shown.map((code) => [code, roomOf(code, sizeAt(scale))]));
    ends = [0, 1].map((i) => shown.reduce(([least, most], code) => [Math.min(least, places[code][i] * scale + boxes.get(code)[i]), Math.max(most, places[code][i] * scale + boxes.get(code)[i + 2])], [Infinity, -Infinity]));
    const by = Math.min(...ends.map(([least, most], i) => sizes[i] / (most - least)));
    if (Math.abs(by - 1) < 0.01 || (by > 1 && scale >= 1.6)) break;
    scale = Math.min(1.6, scale * by);
  }
  view.scale = scale;
  [view.x, view.y] = ends.map(([least, most], i) => ((least + most) / 2 - sizes[i] / 2 - margin) / scale);
}

// The middle of the screen stays among the labels, so that nobody gets lost.
function keepInView(shown) {
  for (const [axis, i, size] of [["x", 0, screen.width], ["y", 1, screen.height]]) {
    const [least, most] = extent(places, shown, i), half = size / 2 / view.scale;
    view[axis] = Math.min(Math.max(view[axis] + half, least), most) - half;
  }
}

function zoom(by, x = screen.width / 2, y = screen.height / 2) {
  const scale = Math.min(8, Math.max(0.1, view.scale * by));
  view.x += x / view.scale - x / scale;
  view.y += y / view.scale - y / scale;
  view.scale = scale;
}

// In a large graph the neighbours of a label may be anywhere, so they are called together: what influences it
// stands on the left, what it influences on the right, the strongest of them if there is no room for all.
const sides = new Map();  // of the labels called together: -1 left, 1 right

function gather(code) {
  const room = Math.max(4, Math.floor((screen.height - 50) / 24));
  const left = incoming[code].map((edge) => edge.from).filter((other) => other !== code).slice(0, room);
  const right = outgoing[code].map((edge) => edge.to).filter((other) => other !== code && !left.includes(other)).slice(0, room);
  places[code] = [0, 0];
  sides.clear();
  column(left, -1);
  column(right, 1);
  Object.assign(view, { x: -screen.width / 2, y: -screen.height / 2, scale: 1 });
}

function column(codes, side) {
  const text = Math.max(0, ...codes.map((code) => widthOf(gatheredName(code))));
  const gap = Math.min(44, (screen.height - 50) / codes.length);
  const far = screen.width / 2 - text - (screen.width < 560 ? 24 : 34);
  codes.forEach((code, i) => {
    const down = i - (codes.length - 1) / 2;
    const bulge = codes.length > 1 ? 1 - Math.abs(down) / (codes.length - 1) * 2 : 1;  // an arc, not a wall
    places[code] = [side * far * (screen.width < 560 ? 0.92 + 0.08 * bulge : 0.78 + 0.22 * bulge), down * gap];
    sides.set(code, side);
  });
}
