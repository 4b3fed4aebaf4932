// The influences as a matrix: one row per influencer, one column per target. For a chain the probabilities of the
// next event after the last one.
const matrix = document.getElementById("matrix");
const corner = "influencer ↓  target →";
const mostCells = 80;  // more rows or columns than this cannot be read
const chainTargets = targets.length && targets.every(({ summary, x }) => summary.kind === "chain" && summary.order === 1 && x.length === 1);
const hasMatrix = edges.length > 0 || chainTargets;
const byPlace = (a, b) => model.places[a][0] - model.places[b][0] || model.places[a][1] - model.places[b][1] || a - b;

// Labels by their place from left to right, which for a process is from beginning to end. If there are too many,
// those of the surest edges.
function matrixSides(some) {
  const rows = new Set(), columns = new Set();
  for (const edge of some) {
    if (rows.size < mostCells) rows.add(edge.from);
    if (columns.size < mostCells) columns.add(edge.to);
  }
  return [[...rows].sort(byPlace), [...columns].sort(byPlace)];
}

function transitions() {
  const often = [...everyone].sort((a, b) => model.n[b] - model.n[a] || a - b).slice(0, mostCells).sort(byPlace);
  const cells = often.flatMap((to) => {
    const { target, outcome } = modelOf[to], rows = rowsByKey(target);
    return often.map((from) => ({ from, to, row: rows.get(String(from + 1)), target, outcome })).filter(({ row }) => row !== undefined)
      .map((cell) => ({ ...cell, p: countedShare(target, cell.row, outcome), n: target.n[cell.row] }));
  });
  return [often, often, cells];
}

function drawMatrix() {
  const passing = edges.filter(state.chosen === null ? isThrough : touches);
  const [rows, columns, cells] = chainTargets ? transitions() : [...matrixSides(passing), passing];
  const row = new Map(rows.map((code, i) => [code, i])), column = new Map(columns.map((code, i) => [code, i]));
  const written = (code) => shortened(names[code], screen.width < 560 ? 13 : 20), longest = Math.max(40, ...columns.map((code) => widthOf(written(code))));
  const left = Math.max(widthOf(corner), ...rows.map((code) => widthOf(written(code)))) + 14;
  const wide = (screen.width - left - 0.7 * longest - 20) / Math.max(columns.length, 1), high = (screen.height - 0.7 * longest - 60) / Math.max(rows.length, 1);
  const size = Math.max(14, Math.min(40, Math.floor(Math.min(wide, Math.max(22, high)))));  // so that it fits, if it can be read then
  const slant = size < 17 ? 65 : 45, [aside, above] = [Math.cos, Math.sin].map((of) => of((slant * Math.PI) / 180) * longest), top = above + 24;
  const width = left + columns.length * size + aside, height = top + rows.length * size + 24;
  for (const [key, value] of [["width", width], ["height", height], ["viewBox", `0 0 ${width} ${height}`]]) matrix.setAttribute(key, value);
  const lines = shape("g"), marks = shape("g"), texts = shape("g");
  const x = (code) => left + (column.get(code) + 0.5) * size, y = (code) => top + (row.get(code) + 0.5) * size;
  rows.forEach((code, i) => {
    lines.append(shape("path", { class: "rule", d: `M${left},${top + i * size} H${left + columns.length * size}` }));
    texts.append(matrixName(code, { x: left - 6, y: y(code) + 4, "text-anchor": "end" }, written(code)));
  });
  columns.forEach((code, i) => {
    lines.append(shape("path", { class: "rule", d: `M${left + i * size},${top} V${top + rows.length * size}` }));
    texts.append(matrixName(code, { transform: `translate(${x(code) + 3},${top - 8}) rotate(-${slant})`, "text-anchor": "start" }, written(code)));
  });
  for (const cell of cells) {
    if (!row.has(cell.from) || !column.has(cell.to)) continue;
    marks.append(...(chainTargets ? transitionMark(cell, x(cell.to), y(cell.from), size) : edgeMark(cell, x(cell.to), y(cell.from), size)));
  }
  texts.append(worded(corner, left - 6, top - 8, "end"));
  const had = matrix.contains(document.activeElement) ? document.activeElement.dataset.cell : null;
  matrix.replaceChildren(lines, marks, texts);
  const stops = [...marks.querySelectorAll(".hit")], again = stops.find((each) => each.dataset.cell === had);
  (again ?? stops[0])?.setAttribute("tabindex", "0");
  again?.focus({ preventScroll: true });
}

// A cell to point at, to click and to reach by keyboard: one stop of Tab, from which arrow keys go on.
function matrixHit({ from, to }, x, y, size, words, action) {
  const hit = shape("rect", { class: "hit", x: x - size / 2, y: y - size / 2, width: size, height: size, tabindex: -1, "data-cell": `${from} ${to}`, role: action ? "button" : "img" });
  const note = (left, top) => showTip([make("div", {}, name(from), " → ", name(to)), words], left, top);
  hit.addEventListener("pointermove", (event) => note(event.clientX, event.clientY));
  hit.addEventListener("pointerleave", hideTip);
  hit.addEventListener("focus", () => {
    if (!hit.matches(":focus-visible")) return;
    const box = hit.getBoundingClientRect();
    note(box.right, box.bottom - 10);
  });
  hit.addEventListener("blur", hideTip);
  hit.addEventListener("click", () => action?.());
  return hit;
}

function matrixKeys() {
  matrix.addEventListener("keydown", (event) => {
    const hit = event.target.closest(".hit");
    if (!hit || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) {
      const spots = [...matrix.querySelectorAll(".hit")].map((each) => [each, ...["x", "y"].map((side) => Number(each.getAttribute(side)))]);
      const next = nearest(spots, hit, steps[event.key]);
      hit.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    } else if (event.key === "Enter" || event.key === " ") hit.dispatchEvent(new MouseEvent("click"));
    else return;
    event.preventDefault();
  });
}

function matrixName(code, attributes, text) {
  const node = shape("text", { class: code === state.chosen ? "name chosen" : "name", "data-code": code, ...attributes });
  node.textContent = text;
  node.addEventListener("click", () => open(code));
  node.addEventListener("pointermove", (event) => showTip([make("div", {}, name(code)), nodeNumbers(code)], event.clientX, event.clientY));
  node.addEventListener("pointerleave", hideTip);
  return node;
}

// A disc for what amplifies, a ring for what inhibits, a diamond for what is mixed, a dot for what is not clear:
// the larger, the larger the lower bound of the effect.
function markOf(look, x, y, r, more = "") {
  const attributes = { class: `mark ${look} ${more}` }, [effect] = look.split(" ");
  if (effect === "mixed") return shape("path", { ...attributes, d: `M${x - r},${y} L${x},${y - r} L${x + r},${y} L${x},${y + r} Z` });
  return shape("circle", { ...attributes, cx: x, cy: y, r: effect === "unclear" ? 1.5 : effect === "inhibits" ? Math.max(r - 1, 2) : r });
}

function edgeMark(edge, x, y, size) {
  const r = Math.max(edge.effect === "mixed" ? 4.5 : 2.5, size * 0.46 * Math.sqrt(largest ? edge.evidence / largest : 0));
  const mark = markOf(classOf(edge), x, y, r, edge.number === state.edge ? "asked" : "");
  const hit = matrixHit(edge, x, y, size, sentenceOf(edge), () => openEdge(edge));
  hit.setAttribute("data-edge", edge.number);
  hit.setAttribute("aria-label", shortWords(edge));
  return [mark, hit];
}

function transitionMark(cell, x, y, size) {
  const inset = (size / 2 - 1) * Math.sqrt(cell.p), words = `${percent(cell.p)} of the ${thing}s after it (seen ${number(cell.n)} times)`;
  const hit = matrixHit(cell, x, y, size, words);
  hit.setAttribute("aria-label", `${names[cell.from]}, then ${names[cell.to]}: ${words}`);
  return [shape("rect", { class: "mark amplifies", x: x - inset, y: y - inset, width: 2 * inset, height: 2 * inset }), hit];
}

function isTangled() {
  const first = edges.filter((edge) => edge.evidence >= model.start && kinds[startShow].of(edge));
  return first.length > mostFollowed && first.length > 1.5 * new Set(first.flatMap((edge) => [edge.from, edge.to])).size;
}
const startView = hasMatrix && (chainTargets || isTangled()) ? "matrix" : "graph";
const visiblePicture = () => (state.view === "matrix" ? matrix : picture);

function showView() {
  for (const each of ["graph", "matrix"]) document.getElementById(`view-${each}`).setAttribute("aria-pressed", state.view === each);
  document.getElementById("views").hidden = !hasMatrix;
  document.getElementById("matrix-box").hidden = state.view !== "matrix";
  document.getElementById("picture").classList.toggle("hidden", state.view === "matrix");
  document.querySelector(".zoom").hidden = state.view === "matrix";
  explain();
}
