// From a history (codes, oldest first) to the row of a model's table that holds for the event to come.

// The distances, 1 for the event just before, at which a label stood in its window: delay < distance <= reach.
// An attribute that a history names holds all along, and takes no place.
const eventsOf = (history) => (attributes.size ? history.filter((code) => !attributes.has(code)) : history);
function distances(history, label, reach, delay) {
  if (attributes.has(label)) return history.includes(label) ? [1] : [];
  const found = [], events = eventsOf(history);
  for (let i = events.length - 1 - delay; i >= 0; i--) {
    const distance = events.length - i;
    if (reach !== null && distance > reach) break;
    if (events[i] === label) found.push(distance);
  }
  return found;
}

const keyOf = {
  binary: (history, target) => windowLevels(history, target, (found) => (found.length ? 1 : 0)),
  count: (history, target) => windowLevels(history, target, (found) => Math.min(found.length, target.summary.cap)),
  last: (history, target) => ranks(windowLevels(history, target, (found) => found[0] ?? 0)),
  first: (history, target) => ranks(windowLevels(history, target, (found) => found[found.length - 1] ?? 0)),
  chain: (history, { summary }) => Array.from({ length: summary.order }, (_, lag) => (history[history.length - 1 - lag] ?? -1) + 1),
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
  const key = new Array(order).fill(END);
  let row = 0;
  for (let lag = 0; lag < order; lag++) {
    const label = history[history.length - 1 - lag];
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
  "more recent": (history, label, than) => history.lastIndexOf(label) > history.lastIndexOf(than),
  start: (history, events) => eventsOf(history).length < events,
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

const computable = !model.timed && targets.every((target) => target.summary.kind !== "own");

// What a model says of one of its outcomes in a state.
function inState(target, outcome, { row, key }) {
  const at = row * target.x.length + outcome;
  return { target, outcome, row, key, own: target.p[at], hits: target.hits[at] ?? 0, support: target.n[row] ?? 0 };
}

// After a history: for every label of a target its model's own probability, its share among all labels where
// they make a distribution, and the state that it comes from.
function predict(history) {
  if (joint) return jointly(history);
  const found = targets.flatMap((target) => {
    const state = stateOf(history, target);
    return target.x.map((code, outcome) => ({ code, ...inState(target, outcome, state) }));
  });
  const sum = normalised ? found.reduce((total, { own }) => total + own, 0) : 1;
  for (const each of found) each.p = each.own / sum;
  return found;
}

// The same, had an influencer not occurred where the model looks for it, or had another one occurred just now.
function otherwise(history, { target, outcome }) {
  const { kind, reach, delay, order } = target.summary;
  const looked = kind === "chain" ? [...new Set(history)].sort((a, b) => a - b) : target.u;
  const edits = [];
  const missing = [];
  looked.forEach((code, i) => {
    const found = distances(history, code, reach ? reach[i] : order, delay ?? 0);
    const events = eventsOf(history), given = history.filter((each) => attributes.has(each) && each !== code);
    if (found.length) edits.push({ code, occurred: false, history: [...given, ...events.map((label, at) => (!attributes.has(code) && found.includes(events.length - at) ? UNKNOWN : label))] });
    else if (!delay && kind !== "chain") missing.push({ code, occurred: true, history: [...history, code] });
  });
  const said = (past) => (joint ? jointly(past).find(({ code }) => code === target.x[outcome]) : inState(target, outcome, stateOf(past, target)));
  return [...edits, ...missing].map((edit) => ({ ...said(edit.history), ...edit }));
}
