// Where everything stands on the screen: places are kept in the picture's own units, of which a view shows a part.
const picture = document.getElementById("picture");
const many = labels.length > 40;
const biggest = Math.max(...model.n, 1);
const radius = (code) => (many ? 4 : 6) + (many ? 11 : screen.width < 560 ? 9 : 15) * Math.sqrt(model.n[code] / biggest);
const state = { chosen: null, edge: null, view: "graph" };  // a label, the number of an edge to it, graph or matrix
let written = [], widths = [];  // names as they stand in the picture, and how wide they are there
const ruler = document.createElement("canvas").getContext("2d");
const nameSize = many ? 12 : 13;
ruler.font = `${nameSize}px ${getComputedStyle(document.documentElement).fontFamily}`;
function widthOf(text) {
  return ruler.measureText(text).width + 4;
}

const view = { x: 0, y: 0, scale: 1 };
const screen = { width: 0, height: 0 };
let home = [];  // places of the whole graph
let places = [];  // places now, which may be those around a chosen label

const onScreen = (code) => [(places[code][0] - view.x) * view.scale, (places[code][1] - view.y) * view.scale];

function measure() {
  const box = picture.getBoundingClientRect();
  screen.width = Math.max(box.width, 120);
  screen.height = Math.max(box.height, 120);
}

// Stretch the layout of the labels that are shown to the screen, then push apart what overlaps. Sizes are in pixels
// at scale 1.
function arrange(shown) {
  measure();
  written = names.map((text) => shortened(text, screen.width < 560 ? 15 : many ? 18 : 26));
  widths = written.map(widthOf);
  const boxes = new Map(shown.map((code) => [code, roomOf(code)]));
  const area = [...boxes.values()].reduce((sum, [left, top, right, bottom]) => sum + (right - left) * (bottom - top), 0);
  const wide = screen.width - 150, high = screen.height - 90;
  const room = Math.max(1, Math.sqrt((1.5 * area) / (wide * high)));  // many labels get a picture larger than the screen
  const low = [0, 1].map((i) => Math.min(...shown.map((code) => model.places[code][i])));
  const size = [0, 1].map((i) => Math.max(...shown.map((code) => model.places[code][i])) - low[i] || 1);
  home = model.places.map(([x, y]) => [((x - low[0]) / size[0]) * wide * room, ((y - low[1]) / size[1]) * high * room]);
  spread(home, shown, boxes);
  stretch(shown);
  places = home.map((place) => [...place]);
}

// What a label takes, seen from its middle: its circle, the name below it, and the loop above it if it has one.
const loopHeight = many ? 17 : 26;
function roomOf(code) {
  const half = Math.max(widths[code] / 2, radius(code)) + 4, loops = edgeBetween.has(code * labels.length + code);
  return [-half, -radius(code) - (loops ? loopHeight : 4), half, radius(code) + 19];
}

// What was pushed apart may have got another shape than the screen; give it that again. Nothing comes closer.
function stretch(shown) {
  const [wide, high] = [0, 1].map((i) => { const [least, most] = extent(home, shown, i); return most - least || 1; });
  const wanted = (screen.width - 150) / (screen.height - 90);
  const along = wide / high < wanted ? 0 : 1, by = along ? wide / high / wanted : (wanted * high) / wide;
  for (const place of home) place[along] *= Math.min(by, 3);
}

const extent = (places, shown, i) => shown.reduce(([least, most], code) => [Math.min(least, places[code][i]), Math.max(most, places[code][i])], [Infinity, -Infinity]);

function spread(places, shown, boxes) {
  for (let round = 0; round < 80; round++) {
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
    if (!moved) break;
  }
}

// Show all labels that are shown at all.
function fit(shown) {
  const [left, right] = extent(places, shown, 0), [top, bottom] = extent(places, shown, 1);
  const side = Math.min(Math.max(...shown.map((code) => widths[code])) / 2 + 6, screen.width / 5);
  view.scale = Math.min(1.6, (screen.width - 2 * side) / Math.max(right - left, 1), (screen.height - 90) / Math.max(bottom - top, 1));
  view.x = (left + right) / 2 - screen.width / 2 / view.scale;
  view.y = (top + bottom) / 2 - (screen.height / 2 + 2) / view.scale;
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
  const left = incoming[code].filter(passes).map((edge) => edge.from).filter((other) => other !== code).slice(0, room);
  const right = outgoing[code].filter(passes).map((edge) => edge.to).filter((other) => other !== code && !left.includes(other)).slice(0, room);
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

const gatheredName = (code) => shortened(names[code], screen.width < 560 ? 11 : 24);
