// From a history to the row of a model's table that holds for what comes next.

// How far back a label stood in its window, in rows of the history; an attribute that holds is farther than all.
function distances(history, label, reach, delay) {
  if (attributes.has(label)) return history.given.has(label) ? [history.rows.length - history.last(label)] : [];
  return history.found(label, reach, delay).map((row) => history.rows.length - row);
}

const keyOf = {
  binary: (history, target) => windowLevels(history, target, (found) => (found.length ? 1 : 0)),
  count: (history, target) => windowLevels(history, target, (found) => Math.min(found.length, target.summary.cap)),
  last: (history, target) => ranks(windowLevels(history, target, (found) => found[0] ?? 0)),
  first: (history, target) => ranks(windowLevels(history, target, (found) => found[found.length - 1] ?? 0)),
  chain: (history, { summary }) => Array.from({ length: summary.order }, (_, lag) => (history.codes.at(-1 - lag) ?? -1) + 1),
};

function windowLevels(history, target, level) {
  const { reach, delay } = target.summary;
  return target.u.map((label, i) => level(distances(history, label, reach[i], delay)));
}

// The farthest is the oldest and comes first; 0 is not there.
function ranks(found) {
  const placed = found.filter(Boolean).sort((a, b) => b - a);
  return found.map((distance) => (distance ? placed.indexOf(distance) + 1 : 0));
}

// What stands in the key of a context: nothing further, the start of the sequence, or a label.
const END = 0, START = 1, LABEL = 2;

function keys(target, row) {
  return target.keys.slice(row * target.width, (row + 1) * target.width);
}

function rowsByKey(target) {
  if (!target.rows) {
    target.rows = new Map();
    for (let row = 0; row < target.n.length; row++) target.rows.set(keys(target, row).join(), row);
  }
  return target.rows;
}

// The longest context that the history ends with; each of its shorter ones is there too.
function contextRow(history, target) {
  const { order } = target.summary, rows = rowsByKey(target);
  const key = new Array(order).fill(END), codes = history.codes;
  let row = 0;
  for (let lag = 0; lag < order; lag++) {
    const label = codes[codes.length - 1 - lag];
    if (label === UNKNOWN) break;
    key[lag] = label === undefined ? START : label + LABEL;
    const longer = rows.get(key.join());
    if (longer === undefined) break;
    row = longer;  // none is longer than one that ends with the start
  }
  return row;
}

// Whether a test of a tree holds.
const answers = {
  occurs: (history, label, within, times) => distances(history, label, within, 0).length >= times,
  "more recent": (history, label, than) => history.last(label) > history.last(than),
  start: (history, events) => history.moments.length < events,
};

// The leaf that a history comes to; states are leaves, numbered depth first.
function leafOf(history, { tests, no }) {
  let node = 0;
  while (tests[node]) {
    const [kind, ...about] = tests[node];
    node = answers[kind](history, ...about) ? node + 1 : no[node];
  }
  return tests.slice(0, node).filter((test) => !test).length;
}

// The state of a history: its row (the last is for states never seen), and its key for the words.
function stateOf(history, target) {
  const { kind } = target.summary;
  if (kind === "contexts") {
    const row = contextRow(history, target);
    return { row, key: keys(target, row) };
  }
  if (kind === "tree") return { row: leafOf(history, target.summary) };
  const key = keyOf[kind](history, target);
  return { row: rowsByKey(target).get(key.join()) ?? target.n.length, key };
}

const computable = targets.every((target) => target.summary.kind !== "own");

// What a model says of one of its outcomes in a state.
function inState(target, outcome, { row, key }) {
  const at = row * target.x.length + outcome;
  return { target, outcome, row, key, own: target.p[at], hits: target.hits[at] ?? 0, support: target.n[row] ?? 0, isNearby: target.nearby?.includes(row) };
}

// After a history: for every label of a target its model's own probability, its share among all labels where
// they make a distribution, and the state that it comes from.
function predict(history) {
  if (joint) return jointly(history.codes);
  const moment = model.moments && momentOf(history);
  const found = (model.moments ? [predicting[moment]] : predicting).flatMap((target) => {
    const state = stateOf(history, target);
    return target.x.map((code, outcome) => ({ code, ...inState(target, outcome, state), ...(model.moments ? { after: model.moments[moment][0], usual: model.moments[moment][1] } : {}) }));
  });
  const sum = normalised ? found.reduce((total, { own }) => total + own, 0) : 1;
  for (const each of found) each.p = each.own / sum;
  if (model.decidedBy !== null && history.codes.includes(model.decidedBy)) return found.map((each) => ({ ...each, own: 1, p: 1, isCertain: true }));
  return found;
}

// The number of the moment that is nearest to where a history has got, of two the earlier.
function momentOf(history) {
  const n = history.moments.length;
  return model.moments.reduce((best, [after], i) => (Math.abs(after - n) < Math.abs(model.moments[best][0] - n) ? i : best), 0);
}

// The table that a history is put to for a label, and its place among the outcomes there.
const predictingOf = (code, history) => { const target = model.moments ? predicting[momentOf(history)] : predicting.find(({ x }) => x.includes(code)); return { target, outcome: target.x.indexOf(code) }; };

// How far back a model looks for a label.
function windowOf(target, code) {
  const { reach, delay, order } = target.summary;
  return [reach ? reach[target.u.indexOf(code)] : order, delay ?? 0];
}

// The same, had an influencer not occurred where the model looks for it, or had another one occurred just now.
function otherwise(history, { target, outcome, after }) {
  const { kind, delay } = target.summary, edits = [], missing = [], x = target.x[outcome];
  const looked = kind === "chain" ? new Set(history.codes) : new Set(target.u);
  for (const code of [...looked].sort((a, b) => a - b)) {
    const rows = history.found(code, ...windowOf(target, code)), isGiven = history.given.has(code);
    if (isGiven && columnOf(code).every((value) => looked.has(value))) continue;  // it would have another of these values
    if (isGiven || rows.length) edits.push({ code, occurred: false, history: history.without(code, rows) });
    else if (attributes.has(code) || (!delay && kind !== "chain")) missing.push({ code, occurred: true, history: history.and(code) });
  }
  const said = (past) => (joint ? predict(past).find(({ code }) => code === x) : inState(target, outcome, stateOf(past, target)));
  return [...edits, ...missing].map((edit) => ({ ...said(edit.history), after, ...edit }));
}

// States and windows in words.
const joined = (parts, between) => parts.flatMap((part, i) => (i ? [between, part] : [part]));
const levels = (key, { u, summary }, present) => joined(u.map((code, i) => {
  const named = [name(code), summary.where[i] && ` ${summary.where[i]}`];
  return key[i] ? (attributes.has(code) ? named : present(named, key[i])) : make("span", { class: "absent" }, "no ", named);
}), ", ");

const wordsOf = {
  binary: (key, target) => levels(key, target, (named) => named),
  count: (key, target) => levels(key, target, (named, n) => [named, ` x${n}${n === target.summary.cap ? "+" : ""}`]),
  last: (key, { u }) => inOrder(key, u),
  first: (key, { u }) => inOrder(key, u),
  chain: (key) => context(key, 0, 1),
  contexts: (key) => context(key.filter((symbol) => symbol !== END), START, LABEL),
};

function inOrder(key, u) {
  const there = u.map((code, i) => [key[i], code]).filter(([level]) => level).sort((a, b) => a[0] - b[0]);
  return there.length ? joined(there.map(([, code]) => name(code)), " then ") : ["none of them"];
}

// The most recent label stands first in a key, and last in words.
function context(key, start, first) {
  const shown = key.filter((symbol) => symbol >= first).map((symbol) => (symbol - first === UNKNOWN ? "?" : name(symbol - first))).reverse();
  return joined(key.includes(start) ? ["start", ...shown] : shown, " → ");
}

// Words that came with the model, in which stand-ins are replaced by labels.
function told(words) {
  return words.split(/\u0001(\d+)\u0002/).map((part, i) => (i % 2 ? name(Number(part)) : part));
}

function stateWords(target, key, row) {
  if (target.summary.kind === "own") return [visible(target.words[row])];
  if (target.words) return told(target.words[row]);
  const words = wordsOf[target.summary.kind](key, target).flat(Infinity);
  return words.length ? words : ["any history"];
}

// A look-back or delay with its unit: text of a number alone is in the unit of the order column.
const placeWords = (k) => (typeof k !== "string" ? plural(k, thing) : Number.isNaN(Number(k)) ? k : `${k} unit${k === "1" ? "" : "s"}`);

function windowWords(target, influencer) {
  if (attributes.has(influencer)) return "holds";
  if (!target.summary.reach) return "before";
  const [k, delay] = windowOf(target, influencer);
  if (model.outcome && typeof k !== "string" && !delay) return k === null ? "at any time" : k === 1 ? `as the last ${thing}` : `among the last ${k} ${thing}s`;
  if (typeof k === "string" || typeof delay === "string") return `${k === null ? "before" : `within the last ${placeWords(k)}`}${delay ? `, more than ${placeWords(delay)} ago` : ""}`;
  if (target.summary.kind === "tree") return k === null ? "before" : k === 1 ? "just before" : `up to ${k} ${thing}s before`;
  if (k === null) return delay ? `more than ${plural(delay, thing)} before` : "at any time before";
  if (k === delay + 1) return delay ? `${k} ${thing}s before` : "just before";
  return delay ? `${delay + 1} to ${k} ${thing}s before` : `within the last ${k} ${thing}s`;
}

// What is said of an influence. A share of moments, or of occurrences that the target follows.
const rateOf = (hits, n) => (n ? percent(hits / n) : "never seen");
const classOf = (edge) => `${edge.effect}${edge.faint ? " faint" : ""}${edge.faint === "crowding out" ? " crowding" : ""}`;
// The same for those who hear the page, and as a sentence of its own to copy.
const verbOf = (edge) => ({ unclear: "has an unclear influence on", mixed: "has a mixed influence on" })[edge.effect] ?? edge.effect;
const shortWords = (edge) => `${names[edge.from]} ${verbOf(edge)} ${edge.from === edge.to ? "itself" : names[edge.to]}, ${edge.change}${edge.aside ? `, ${edge.aside}` : ""}`;
// Of an outcome, cases are counted: "of 623 cases with 'Release A', 259 end with 'Return ER' (41.6%)".
const outcomeVerb = (code) => names[code].replace(/^ends with /, "end with ").replace(/^contains /, "contain ").replace(/^(?!end with |contain )/, "have ");
const ofCases = (edge, which) => (edge.n[which] ? `${number(edge.hits[which])} of ${number(edge.n[which])} (${rateOf(edge.hits[which], edge.n[which])})` : "none of 0");
const caseSentence = (edge) => visible(`Cases with '${names[edge.from]}'${attributes.has(edge.from) ? "" : ` ${windowWords(modelOf[edge.to].target, edge.from)}`}: ${ofCases(edge, 0)} ${outcomeVerb(edge.to)}; all others: ${ofCases(edge, 1)}. ${edge.verdict}.`);
const sentenceOf = (edge) => outcomes.has(edge.to) ? caseSentence(edge) : `${edge.counted.replace(/#[zx]/g, (which) => names[which === "#z" ? edge.from : edge.to])}. Effect on the next event: ${escaped(edge.verdict)}.`;
