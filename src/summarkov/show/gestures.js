// Pan, zoom and drag by mouse, touch and keyboard.

// While the view moves, the picture is moved as it is; once it rests, names and lines are placed anew.
let resting = null;
const placedFor = { x: 0, y: 0, scale: 1 };  // the view that everything was placed for

function moveAlong() {
  keepInView(shown);
  const by = view.scale / placedFor.scale;
  world.setAttribute("transform", `translate(${put([(placedFor.x - view.x) * view.scale, (placedFor.y - view.y) * view.scale])}) scale(${by.toFixed(4)})`);
  restSoon();
}
function restSoon() {
  clearTimeout(resting);
  resting = setTimeout(draw, 120);
}

function gestures(click) {
  const pointers = new Map();
  let held = null, edge = null, moved = false, spread = 0;
  const codeAt = (node) => { const group = node.closest?.(".node"); return group ? Number(group.dataset.code) : null; };
  const local = (event) => { const box = picture.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

  picture.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, local(event));
    if (pointers.size === 1) { held = codeAt(event.target); edge = edges[event.target.dataset.edge] ?? null; moved = false; }
    else moved = true;
    spread = gap();
  });
  picture.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = local(event), dx = now[0] - before[0], dy = now[1] - before[1];
    if (!moved && Math.hypot(dx, dy) < 5) return;
    if (!moved) picture.setPointerCapture(event.pointerId);
    moved = true;
    hideTip();
    pointers.set(event.pointerId, now);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      zoom(gap() / (spread || 1), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      spread = gap();
    } else if (held !== null) {
      places[held][0] += dx / view.scale;
      places[held][1] += dy / view.scale;
      if (!gathered()) home[held] = [...places[held]];
    } else {
      view.x -= dx / view.scale;
      view.y -= dy / view.scale;
    }
    if (held !== null && pointers.size === 1) { draw(true); restSoon(); } else moveAlong();
  });
  const gap = () => { const [a, b] = [...pointers.values()]; return b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0; };
  const up = (event) => {
    const was = pointers.delete(event.pointerId);
    if (was && !moved && event.type === "pointerup") click(held, edge);
    if (!pointers.size) held = edge = null;
  };
  picture.addEventListener("pointerup", up);
  picture.addEventListener("pointercancel", up);
  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...local(event));
    moveAlong();
  }, { passive: false });

  picture.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const code = codeAt(event.target);
    if (event.key in steps && event.shiftKey) {
      view.x += (60 * steps[event.key][0]) / view.scale;
      view.y += (60 * steps[event.key][1]) / view.scale;
    } else if (event.key in steps && code !== null) drawnNodes[nearest(shown.map((each) => [each, ...onScreen(each)]), code, steps[event.key])].focus();
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") settle();
    else if ((event.key === "Enter" || event.key === " ") && code !== null) click(code, null);
    else return;
    event.preventDefault();
    draw();
  });
}

// One label at a time can be reached by Tab; arrow keys go on from there.
const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
let stop = -1;

function stopAt(code) {
  drawnNodes[stop]?.setAttribute("tabindex", "-1");
  stop = code;
  drawnNodes[stop]?.setAttribute("tabindex", "0");
}

// The nearest of some spots (what it is, x, y) in a direction from one of them, what lies off to the side counting as
// farther; itself if there is none.
function nearest(spots, from, [right, down]) {
  const [, x, y] = spots.find(([each]) => each === from);
  let best = from, least = Infinity;
  for (const [each, left, top] of spots) {
    const dx = left - x, dy = top - y, ahead = dx * right + dy * down, aside = Math.abs(dx * down) + Math.abs(dy * right);
    if (each !== from && ahead > 0 && aside <= 2 * ahead && ahead + 2 * aside < least) { best = each; least = ahead + 2 * aside; }
  }
  return best;
}
