// Text that is safe and readable: labels are shown as they are, with what cannot be seen written as an escape.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const escapes = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escaped = (text) => text.replace(hidden, (c) => escapes[c] ?? "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
function visible(text) {
  const shown = escaped(text);
  return shown.trim() ? shown : `"${shown}"`;
}
const names = labels.map(visible);

// An element with attributes and children; strings become text, never markup.
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

function shape(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {})) node.setAttribute(name, value);
  return node;
}

// A label in a line of text, apart from the direction of its neighbours; cut only where the place is narrow.
function name(code, cut = false) {
  return make("bdi", { class: cut ? "label cut" : "label", dir: "auto" }, names[code]);
}

function nameButton(code, action, title) {
  return make("button", { type: "button", class: "link", onclick: () => action(code), "data-code": code, title }, name(code, true));
}

// A label for the picture, at most this many letters wide.
const segmenter = Intl.Segmenter ? new Intl.Segmenter() : null;
const letters = (text) => (segmenter && /[^ -~]/.test(text) ? [...segmenter.segment(text)].map((s) => s.segment) : [...text]);
function shortened(text, cells) {
  let used = 0, kept = "";
  for (const letter of letters(text.slice(0, 8 * cells))) {
    used += letter.codePointAt(0) >= 0x1100 ? 2 : 1;
    if (used > cells) return kept.trimEnd() + "…";
    kept += letter;
  }
  return kept.length < text.length ? kept + "…" : kept;
}
const cellsOf = (text) => letters(text).reduce((n, letter) => n + (letter.codePointAt(0) >= 0x1100 ? 2 : 1), 0);

const number = (n) => n.toLocaleString("en-US", { maximumFractionDigits: n === Math.round(n) ? 0 : 1 });
const plural = (n, thing) => `${number(n)} ${thing}${n === 1 ? "" : "s"}`;
function percent(p) {
  if (p === 0 || p === 1) return `${100 * p}%`;
  if (p < 0.0001) return "<0.01%";
  if (p > 0.999) return ">99.9%";
  return `${(100 * p).toFixed(p < 0.00995 ? 2 : 1)}%`;
}
function factor(ratio) {
  if (Number.isNaN(ratio)) return "";
  if (ratio > 100) return "over ×100";
  if (ratio < 0.01) return "under ×0.01";
  return "×" + (Number(ratio.toPrecision(2)) >= 10 ? Math.round(ratio) : ratio.toPrecision(2));
}

// A note beside the pointer or the focused element.
const tip = document.getElementById("tip");
function showTip(content, x, y) {
  tip.replaceChildren(...[content].flat());
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 4))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 12) : y + 18}px`;
}
function hideTip() { tip.hidden = true; }

// What was cut for want of room is shown in full on hover and focus.
function fullText(event) {
  const cut = event.target.closest?.("bdi.cut") ?? event.target.querySelector?.("bdi.cut");
  if (!cut || cut.scrollWidth <= cut.clientWidth) return;
  const box = cut.getBoundingClientRect();
  showTip(cut.textContent, box.left, box.bottom - 14);
}
for (const kind of ["mouseover", "focusin"]) document.getElementById("panel").addEventListener(kind, fullText);
for (const kind of ["mouseout", "focusout"]) document.getElementById("panel").addEventListener(kind, hideTip);
