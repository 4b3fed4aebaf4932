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
  const button = make("button", { type: "button", class: "more", onclick: () => {
    button.remove();
    into.append(...items.slice(most).map(render));
  } }, `Show all ${number(items.length)}`, make("span", { class: "print-only" }, ` on the screen; ${number(items.length - most)} are not printed`));
  return button;
}

const seldom = (n, { few }) => (n < few ? make("span", { class: "warn", title: `seen fewer than ${number(few)} times` }, n ? " hardly seen" : " never seen") : null);

// The end of an axis: the next of 1, 2 and 5 with zeros, so that its ticks are round.
function niceTop(value) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return Math.min(1, ten * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * ten >= value * 0.999));
}

// Which influencers are there, as a dot each; in words where a state is of another kind, or has too many of them.
const mostDots = 14;
const hasDots = (target) => ["binary", "count", "last", "first"].includes(target.summary.kind) && target.u.length > 0 && target.u.length <= mostDots;

function dotsOf(target, key) {
  const { kind, cap } = target.summary;
  const inDot = { binary: () => "", count: (level) => `${level}${level === cap ? "+" : ""}`, last: String, first: String }[kind];
  return target.u.map((code, i) => make("td", { class: key[i] ? "dotted on" : "dotted", "aria-hidden": "true" }, make("span", {}, key[i] ? inDot(key[i]) : "")));
}

// How often an outcome came in a state, as counted.
const countedShare = (target, row, outcome) => (target.n[row] ? target.hits[row * target.x.length + outcome] / target.n[row] : 0);

// The states of one label on one axis, sortable by what the columns hold; those hardly seen come last.
function stateTable(target, outcome, code) {
  const n = target.x.length, isDotted = hasDots(target), usual = rate(code);
  const rows = target.n.map((seen, row) => ({ row, seen, hits: target.hits[row * n + outcome], p: countedShare(target, row, outcome) }));
  for (const each of rows) [each.low, each.high] = exactInterval(each.hits, each.seen);
  const most = niceTop(Math.max(...rows.map((each) => (each.seen < target.few ? each.p : each.high)), usual, 1e-9));
  const body = make("tbody", { class: "states" }), box = make("div", { class: "scrolls" });
  const sorts = { row: (a, b) => a.row - b.row, p: (a, b) => (a.seen < target.few) - (b.seen < target.few) || b.p - a.p, seen: (a, b) => b.seen - a.seen };
  let by = "p";
  const head = (key, title, more) => make("th", { scope: "col", class: key === "seen" ? "number" : null, "data-by": key }, make("button", { type: "button", onclick: () => { by = key; fill(); } }, title), more);
  const heads = [head("row", "History state"), head("p", "Share", axis(most)), head("seen", "Seen")];
  function fill() {
    for (const each of heads) each.setAttribute("aria-sort", each.dataset.by !== by ? "none" : by === "row" ? "ascending" : "descending");
    body.replaceChildren();
    box.querySelector(":scope > button")?.remove();
    const more = firstOf([...rows].sort((a, b) => sorts[by](a, b) || a.row - b.row), 50, body, (each) => {
      const key = target.keys && keys(target, each.row), words = stateWords(target, key, each.row);
      return make("tr", { "data-row": each.row },
        isDotted ? [...dotsOf(target, key), make("td", { class: "heard" }, words)] : make("td", {}, words, seldom(each.seen, target)),
        make("td", {}, bar(each.p, most, { low: each.low, high: each.high, usual }), make("span", { class: "small" }, percent(each.p), make("span", { class: "quiet" }, ` ${percent(each.low)} to ${percent(each.high)}`), isDotted ? seldom(each.seen, target) : "")),
        make("td", { class: "number" }, number(each.hits), make("div", { class: "quiet small" }, `of ${number(each.seen)}`)));
    });
    if (more) box.append(more);
  }
  const widths = isDotted ? [...target.u.map(() => "1.5rem"), "0", "auto", "5.2rem"] : ["44%", "38%", "18%"];
  const columns = make("colgroup", {}, ...widths.map((width) => { const column = make("col"); column.style.width = width; return column; }));
  const names = isDotted ? [...target.u.map((code, i) => make("th", { scope: "col", class: "slanted" }, make("span", {}, name(code, true), target.summary.where?.[i] ? ` ${target.summary.where[i]}` : ""))), make("th", { scope: "col", class: "heard" }, "History state")] : [heads[0]];
  box.append(make("table", { class: isDotted ? "dots" : null }, columns, make("thead", {}, make("tr", {}, names, heads[1], heads[2])), body));
  fill();
  const { kind } = target.summary;
  const key = isDotted ? `A filled dot: that label came within its window${kind === "count" ? ", as many times as the number says" : kind === "binary" ? "" : "; the numbers tell the order"}. ` : "";
  return make("div", {}, box, make("p", { class: "key" }, `${key}Bar: share, as counted; bracket: 95% interval; dashed line: ${usualOf(code)}, ${percent(usual)}. Seen: how often it ${model.outcome ? "came about, of how many cases were in the state" : "was the next event, of how many moments in that state"}.`));
}

// The ends and the middle of the axis of bars.
const axis = (most) => make("div", { class: "axis", "aria-hidden": "true" }, ...[0, most / 2, most].map((p) => make("span", {}, percent(p))));

// A tree with its rules: at each branching the question, its answers below it, and what follows at the leaves.
function treeOf(target, outcome, usual) {
  const { tests, asks, no, at, hits } = target.summary, n = target.x.length;
  const most = Math.max(usual, ...target.n.map((seen, row) => countedShare(target, row, outcome)), 1e-9);
  let leaf = 0, split = 0;
  function branch(node, answer) {
    const test = tests[node];
    const head = answer === null ? "" : make("span", { class: "answer" }, answer ? "yes" : "no");
    if (!test) {
      const row = leaf++, share = countedShare(target, row, outcome), [low, high] = exactInterval(target.hits[row * n + outcome], target.n[row]);
      return make("li", { class: "leaf" }, head, bar(share, most, { low, high, usual }),
        make("span", {}, percent(share), make("span", { class: "quiet" }, ` seen ${number(target.n[row])} times`), seldom(target.n[row], target)));
    }
    const gain = target.trace[split++]?.[3], worth = gain === undefined ? "" : `; gain ${gain.toFixed(1)}`;
    const here = make("span", { class: "quiet" }, ` ${percent(hits[node * n + outcome] / at[node])} of ${number(at[node])}${worth}`);
    const yes = branch(node + 1, true);
    return make("li", {}, head, told(asks[node]), "?", here, make("ul", {}, yes, branch(no[node], false)));
  }
  return make("ul", { class: "tree" }, branch(0, null));
}
