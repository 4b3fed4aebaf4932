// Where everything stands on the screen: places are kept in the picture's own units, of which a view shows a part.
const picture = document.getElementById("picture");
const many = labels.length > 40;
const biggest = Math.max(...model.n, 1);
const radius = (code) => (many ? 4 : 6) + (many ? 11 : screen.width < 560 ? 9 : 15) * Math.sqrt(model.n[code] / biggest);
let written = [], widths = [];  // names as they stand in the picture, and how wide they are there

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

// Stretch the layout to the screen, then push apart what overlaps. Sizes are in pixels at scale 1.
function arrange() {
  measure();
  written = names.map((text) => shortened(text, screen.width < 560 ? 15 : many ? 22 : 26));
  widths = written.map((text) => 7.2 * cellsOf(text) + 6);
  const room = Math.max(1, Math.sqrt(labels.length / 45));  // many labels get a picture larger than the screen
  const width = (screen.width - 150) * room, height = (screen.height - 130) * room;
  home = model.places.map(([x, y]) => [x * width, y * height]);
  spread(home);
  stretch(home);
  places = home.map((place) => [...place]);
}

// What was pushed apart may have got another shape than the screen; give it that again. Nothing comes closer.
function stretch(places) {
  const [xs, ys] = [0, 1].map((i) => places.map((place) => place[i]));
  const wide = Math.max(...xs) - Math.min(...xs) || 1, high = Math.max(...ys) - Math.min(...ys) || 1;
  const wanted = (screen.width - 150) / (screen.height - 130);
  const along = wide / high < wanted ? 0 : 1, by = along ? wide / high / wanted : (wanted * high) / wide;
  for (const place of places) place[along] *= Math.min(by, 3);
}

function spread(places) {
  const half = everyone.map((code) => (many ? [radius(code) + 9, radius(code) + 5] : [Math.max(widths[code] / 2, radius(code)) + 3, radius(code) + 13]));
  for (let round = 0; round < 80; round++) {
    let moved = false;
    for (let a = 0; a < places.length; a++) {
      for (let b = a + 1; b < places.length; b++) {
        const dx = places[b][0] - places[a][0], dy = places[b][1] - places[a][1];
        const overX = half[a][0] + half[b][0] - Math.abs(dx), overY = half[a][1] + half[b][1] - Math.abs(dy);
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

// Show all labels.
function fit() {
  const left = Math.min(...places.map(([x]) => x)), right = Math.max(...places.map(([x]) => x));
  const top = Math.min(...places.map(([, y]) => y)), bottom = Math.max(...places.map(([, y]) => y));
  const side = Math.min(Math.max(...widths) / 2 + 6, screen.width / 5);
  view.scale = Math.min(1.6, (screen.width - 2 * side) / Math.max(right - left, 1), (screen.height - 120) / Math.max(bottom - top, 1));
  view.x = (left + right) / 2 - screen.width / 2 / view.scale;
  view.y = (top + bottom) / 2 - (screen.height / 2 + 8) / view.scale;
}

// The middle of the screen stays among the labels, so that nobody gets lost.
function keepInView() {
  for (const [axis, i, size] of [["x", 0, screen.width], ["y", 1, screen.height]]) {
    const all = places.map((place) => place[i]), half = size / 2 / view.scale;
    view[axis] = Math.min(Math.max(view[axis] + half, Math.min(...all)), Math.max(...all)) - half;
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
  const text = Math.max(0, ...codes.map((code) => 7.2 * cellsOf(gatheredName(code))));
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
