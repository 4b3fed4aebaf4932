// Bars and tables.
function bar(p, most, { low, high, usual } = {}) {
  const share = (value) => `${(100 * Math.min(1, value / most)).toFixed(2)}%`;
  const box = make("div", { class: "bar", role: "presentation" });
  const fill = make("div", { class: "fill" });
  fill.style.width = share(p);
  box.append(fill);
  if (low !== undefined) {
    const span = make("div", { class: "span" });
    span.style.left = share(low);
    span.style.width = `max(2px, ${(100 * (Math.min(1, high / most) - Math.min(1, low / most))).toFixed(2)}%)`;
    box.append(span);
  }
  if (usual !== undefined) {
    const tick = make("div", { class: "usual" });
    tick.style.left = share(usual);
    box.append(tick);
  }
  return box;
}

// The first of many items, and a button for the rest.
function firstOf(items, most, into, render) {
  into.append(...items.slice(0, most).map(render));
  if (items.length <= most) return null;
  const button = make("button", { type: "button", class: "no-print", onclick: () => {
    button.remove();
    into.append(...items.slice(most).map(render));
  } }, `Show all ${number(items.length)}`);
  return button;
}

const seldom = (n, { few }) => (n < few ? make("span", { class: "warn", title: `seen fewer than ${number(few)} times` }, n ? " hardly seen" : " never seen") : null);

// The states of one label, sortable by what its columns hold.
function stateTable(target, outcome, usual) {
  const n = target.x.length;
  const rows = target.n.map((seen, row) => ({ row, seen, hits: target.hits[row * n + outcome], p: target.p[row * n + outcome], low: target.low[row * n + outcome], high: target.high[row * n + outcome] }));
  const most = Math.max(...rows.map((each) => (each.seen < target.few ? each.p : each.high)), usual, 1e-9);
  const body = make("tbody", { class: "states" }), box = make("div");
  const sorts = { row: (a, b) => a.row - b.row, p: (a, b) => b.p - a.p, seen: (a, b) => b.seen - a.seen };
  let by = rows.length > 50 ? "seen" : "row";
  const heads = [["row", "State of the past", ""], ["p", "Probability", "ascending"], ["seen", "Seen", "ascending"]].map(([key, title]) =>
    make("th", { scope: "col", class: key === "seen" ? "number" : null, "data-by": key }, make("button", { type: "button", onclick: () => { by = key; fill(); } }, title)));
  function fill() {
    for (const head of heads) head.setAttribute("aria-sort", head.dataset.by !== by ? "none" : by === "row" ? "ascending" : "descending");
    body.replaceChildren();
    box.querySelector(":scope > button")?.remove();
    const more = firstOf([...rows].sort((a, b) => sorts[by](a, b) || a.row - b.row), 50, body, (each) => make("tr", {},
      make("td", {}, stateWords(target, target.keys && keys(target, each.row), each.row), seldom(each.seen, target)),
      make("td", {}, bar(each.p, most, { low: each.low, high: each.high, usual }), make("span", { class: "small" }, percent(each.p), make("span", { class: "quiet" }, ` ${percent(each.low)} to ${percent(each.high)}`))),
      make("td", { class: "number" }, number(each.hits), make("div", { class: "quiet small" }, `of ${number(each.seen)}`))));
    if (more) box.append(more);
  }
  const columns = make("colgroup", {}, ...["44%", "38%", "18%"].map((width) => { const column = make("col"); column.style.width = width; return column; }));
  box.append(make("table", {}, columns, make("thead", {}, make("tr", {}, ...heads)), body));
  fill();
  return box;
}
