// What can be measured of the picture of a page: where tips lie, which names lines run over, how long a turn of the wheel takes.
async () => {
  const model = JSON.parse(document.getElementById("model").textContent), picture = document.getElementById("picture");
  const size = picture.getBoundingClientRect(), gone = (node) => getComputedStyle(node).display === "none";
  const place = (node) => node.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
  const holds = (box, x, y) => box && x > box[0] && x < box[2] && y > box[1] && y < box[3];
  const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const away = (box, x, y) => Math.hypot(Math.max(box[0] - x, 0, x - box[2]), Math.max(box[1] - y, 0, y - box[3]));
  const labels = new Map();
  for (const group of picture.querySelectorAll(".node")) {
    if (gone(group)) continue;
    const [x, y] = place(group), name = group.children[1], box = gone(name) || !name.textContent ? null : name.getBBox();
    labels.set(Number(group.dataset.code), { x, y, r: Number(group.children[0].getAttribute("r")), box: box && [x + box.x + 2, y + box.y + 5, x + box.x + box.width - 2, y + box.y + box.height - 4] });
  }
  const boxes = [...labels.values()].map(({ box }) => box).filter(Boolean);
  const found = { edges: 0, labels: labels.size, named: boxes.length, empty: 0, under: 0, crossings: 0, overlaps: 0, cut: 0 };
  boxes.forEach((box, i) => {
    found.cut += box[0] < -3 || box[2] > size.width + 3 || box[1] < -3 || box[3] > size.height + 3 ? 1 : 0;
    found.overlaps += boxes.slice(0, i).filter((other) => meet(box, other)).length;
  });
  const [lines, heads, hits] = [".edge", ".head", ".hit"].map((kind) => picture.querySelectorAll(kind));
  lines.forEach((line, i) => {
    if (gone(line)) return;
    found.edges++;
    const [, to, effect] = model.edges[Number(hits[i].dataset.edge)], [x, y, turn] = place(heads[i]), end = labels.get(to);
    const far = { amplifies: 9, inhibits: 3, mixed: 10, unclear: 8 }[effect], angle = (turn * Math.PI) / 180;
    const tip = [x + far * Math.cos(angle), y + far * Math.sin(angle)];
    const gap = Math.min(Math.abs(Math.hypot(tip[0] - end.x, tip[1] - end.y) - end.r), end.box ? away(end.box, ...tip) : Infinity);
    found.empty += gap > 10 ? 1 : 0;
    found.under += boxes.some((box) => holds(box, ...tip)) ? 1 : 0;
    const steps = Math.max(10, Math.ceil(line.getTotalLength() / 3)), met = new Set();
    for (let at = 0; at <= steps; at++) {
      const point = line.getPointAtLength((line.getTotalLength() * at) / steps);
      for (const box of boxes) if (holds(box, point.x, point.y)) met.add(box);
    }
    found.crossings += met.size;
  });
  const settled = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const turn = (down) => picture.dispatchEvent(new WheelEvent("wheel", { deltaY: down, clientX: size.left + 300, clientY: size.top + 200, bubbles: true, cancelable: true }));
  // Of four turns, in and out again, the best of several rounds; until the next frame, and the work alone.
  const best = [Infinity, Infinity, Infinity, Infinity], work = [...best];
  for (let step = 0; step < 32; step++) {
    await frame();
    const start = performance.now();
    turn(step % 4 < 2 ? -100 : 100);
    document.body.getBoundingClientRect();
    work[step % 4] = Math.min(work[step % 4], performance.now() - start);
    await frame();
    best[step % 4] = Math.min(best[step % 4], performance.now() - start);
  }
  let again = Infinity;  // everything placed anew, once the picture rests
  for (let step = 0; step < 6; step++) {
    await settled();
    const start = performance.now();
    document.getElementById(step % 2 ? "zoom-out" : "zoom-in").click();
    document.body.getBoundingClientRect();
    again = Math.min(again, performance.now() - start);
  }
  // The least contrast of text (by colours that the styles name) and of lines at the least confidence that is drawn.
  const look = getComputedStyle(document.documentElement), rgb = (name) => [1, 3, 5].map((i) => parseInt(look.getPropertyValue(name).trim().slice(i, i + 2), 16));
  const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => sum + share * (colour[i] / 255 <= 0.04045 ? colour[i] / 255 / 12.92 : ((colour[i] / 255 + 0.055) / 1.055) ** 2.4), 0);
  const contrast = (ink, paper, firm = 1) => { const [a, b] = [light(rgb(ink).map((c, i) => firm * c + (1 - firm) * rgb(paper)[i])), light(rgb(paper))]; return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); };
  found.text = Math.min(...["--ink", "--quiet", "--mark", "--warn", "--amplifies", "--inhibits", "--mixed", "--unclear"].flatMap((ink) => ["--paper", "--sheet"].map((paper) => contrast(ink, paper))));
  found.line = Math.min(...["--amplifies", "--inhibits", "--mixed", "--unclear"].map((ink) => contrast(ink, "--paper", 0.7)));
  return { ...found, wheel: Math.max(...work), frame: Math.max(...best), again };
}
