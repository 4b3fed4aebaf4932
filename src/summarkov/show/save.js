// What is seen, to take along: the picture as SVG or PNG, the influences as CSV, a sentence or a link as text.
function download(name, kind, parts) {
  const address = URL.createObjectURL(new Blob(parts, { type: kind }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

const fileName = (ending) => `${(model.title || "influences").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "influences"}.${ending}`;

// Copying by a selection works where pages have no access to the clipboard: from disk and without encryption.
function copy(text, button) {
  const box = make("textarea", { class: "copied", readonly: true, "aria-hidden": "true" });
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  button.focus();
  const says = button.dataset.says ??= button.textContent;
  button.textContent = done ? "Copied" : "Copying is not allowed here";
  setTimeout(() => { button.textContent = says; }, 1600);
}
const copyButton = (says, text) => { const button = make("button", { type: "button", class: "no-print", onclick: () => copy(text(), button) }, says); return button; };

// The shapes of the picture as they look: each with its place, its colours and its text.
const looks = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size", "font-weight", "text-anchor", "paint-order"];

function plainShapes(node, into) {
  for (const each of node.children) {
    const look = getComputedStyle(each);
    if (look.display === "none" || each.classList.contains("hit")) continue;
    const copied = shape(each.tagName);
    for (const key of ["d", "transform", "x", "y", "dy", "r", "cx", "cy", "width", "height", "rx"]) if (each.hasAttribute(key)) copied.setAttribute(key, each.getAttribute(key));
    if (each.tagName !== "g") for (const key of looks) copied.setAttribute(key, look.getPropertyValue(key));
    else if (look.opacity !== "1") copied.setAttribute("opacity", look.opacity);
    if (each.tagName === "text") copied.textContent = each.textContent;
    else plainShapes(each, copied);
    into.append(copied);
  }
  return into;
}

// The legend as it stands below the picture: samples as shapes, words as text.
function plainLegend(down) {
  const legend = document.getElementById("legend"), { left, top } = legend.getBoundingClientRect(), { color, fontSize } = getComputedStyle(legend), parts = shape("g");
  for (const node of [...legend.children].flatMap((item) => [...item.childNodes])) {
    const range = document.createRange();
    range.selectNode(node);
    const box = range.getBoundingClientRect(), [x, y] = [box.left - left, box.top - top + down];
    if (node.nodeType === Node.TEXT_NODE) {
      const text = shape("text", { x, y: y + 0.78 * box.height, fill: color, "font-size": fontSize });
      text.textContent = node.data;
      parts.append(text);
    } else parts.append(plainShapes(node, shape("g", { transform: `translate(${x},${y})` })));
  }
  return parts;
}

function plainPicture() {
  if (state.view === "graph") draw();  // it may be moving still
  const seen = visiblePicture(), box = seen.getBoundingClientRect(), legend = document.getElementById("legend").getBoundingClientRect();
  const width = Math.ceil(Math.max(box.width, legend.width)), height = Math.ceil(box.height + legend.height + 12);
  const paper = getComputedStyle(document.body).backgroundColor;
  const root = shape("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": "system-ui, sans-serif" });
  const said = shape("title");
  said.textContent = `${document.title}. ${document.getElementById("shown").textContent}`;
  root.append(said, shape("rect", { width, height, fill: paper }));
  plainShapes(seen, root).append(plainLegend(box.height + 6));
  return { root, width, height };
}

function saveSvg() { download(fileName("svg"), "image/svg+xml", [new XMLSerializer().serializeToString(plainPicture().root)]); }

// Drawn shape by shape: an image made from SVG would need a policy that allows images.
function savePng() {
  const { root, width, height } = plainPicture();
  const canvas = make("canvas", { width: 2 * width, height: 2 * height }), pen = canvas.getContext("2d");
  pen.scale(2, 2);
  paint(root, pen);
  canvas.toBlob((blob) => download(fileName("png"), "image/png", [blob]));
}

function paint(node, pen) {
  for (const each of node.children) {
    const get = (key, otherwise = "") => each.getAttribute(key) ?? otherwise;
    pen.save();
    const [, dx = 0, dy = 0] = get("transform").match(/translate\(([-\d.]+)[ ,]+([-\d.]+)/) ?? [], [, turn = 0] = get("transform").match(/rotate\(([-\d.]+)/) ?? [];
    pen.translate(Number(dx), Number(dy));
    pen.rotate((Number(turn) * Math.PI) / 180);
    pen.globalAlpha *= Number(get("opacity", 1));
    Object.assign(pen, { fillStyle: get("fill", "none"), strokeStyle: get("stroke", "none"), lineWidth: parseFloat(get("stroke-width", 1)), lineJoin: "round" });
    pen.setLineDash(get("stroke-dasharray", "none") === "none" ? [] : get("stroke-dasharray").split(",").map(parseFloat));
    const [isFilled, isStroked] = ["fill", "stroke"].map((key) => get(key, "none") !== "none");
    if (each.tagName === "g") paint(each, pen);
    else if (each.tagName === "text") {
      pen.font = `${get("font-weight", 400)} ${get("font-size", "13px")} system-ui, sans-serif`;
      pen.textAlign = { middle: "center", end: "right" }[get("text-anchor")] ?? "left";
      const at = [each.textContent, parseFloat(get("x", 0)), parseFloat(get("y", 0)) + parseFloat(get("dy", 0))];
      if (isStroked) pen.strokeText(...at);
      if (isFilled) pen.fillText(...at);
    } else {
      const path = pathOf(each.tagName, (key) => parseFloat(get(key, 0)), get("d"));
      if (isFilled) pen.fill(path);
      if (isStroked) pen.stroke(path);
    }
    pen.restore();
  }
}

function pathOf(tag, size, d) {
  const path = new Path2D(d);
  if (tag === "circle") path.arc(size("cx"), size("cy"), size("r"), 0, 2 * Math.PI);
  if (tag === "rect") path.rect(size("x"), size("y"), size("width"), size("height"));
  return path;
}

// The influences that pass the filter, one row each. A text that a spreadsheet would compute is marked as text.
const columns = {
  influencer: (edge) => labels[edge.from], target: (edge) => labels[edge.to], effect: (edge) => edge.effectWord, rate_ratio: (edge) => edge.times,
  ...Object.fromEntries(model.edgeNumbers.map((key) => [key, (edge) => (["ratio", "low", "high"].includes(key) ? edge[key] : edge.known[key])])),
  verdict: (edge) => edge.verdict,
};
const cell = (value) => { const text = String(value ?? ""); return /[",\r\n]/.test(text) || /^[=+@\t-]/.test(text) && typeof value === "string" ? `"${(/^[=+@\t-]/.test(text) ? "'" : "") + text.replaceAll('"', '""')}"` : text; };
function tableText() {
  const rows = edges.filter(state.chosen === null ? isThrough : touches);
  return [Object.keys(columns), ...rows.map((edge) => Object.values(columns).map((of) => of(edge)))].map((row) => row.map(cell).join(",") + "\r\n").join("");
}
function saveTable() { download(fileName("csv"), "text/csv", ["\ufeff", tableText()]); }
