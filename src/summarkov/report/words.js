// States and windows in words.
const joined = (parts, between) => parts.flatMap((part, i) => (i ? [between, part] : [part]));
const absent = (code) => make("span", { class: "absent" }, "no ", name(code));

const wordsOf = {
  binary: (key, { u }) => joined(u.map((code, i) => (key[i] ? name(code) : absent(code))), ", "),
  count: (key, { u, summary }) => joined(u.map((code, i) =>
    key[i] ? [name(code), ` x${key[i]}${key[i] === summary.cap ? "+" : ""}`] : absent(code)), ", "),
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
  const shown = key.filter((symbol) => symbol >= first).map((symbol) => name(symbol - first)).reverse();
  return joined(key.includes(start) ? ["start", ...shown] : shown, " → ");
}

function stateWords(target, key, row) {
  if (target.words) return [visible(target.words[row])];
  const words = wordsOf[target.summary.kind](key, target).flat();
  return words.length ? words : ["any history"];
}

function windowWords(target, influencer) {
  const { reach, delay } = target.summary;
  if (!reach) return "before";
  const k = reach[target.u.indexOf(influencer)];
  if (k === null) return delay ? `more than ${plural(delay, "event")} before` : "at any time before";
  if (k === delay + 1) return delay ? `${k} events before` : "just before";
  return delay ? `${delay + 1} to ${k} events before` : `within the last ${k} events`;
}

const meaning = { amplifies: "amplifies", inhibits: "inhibits", mixed: "mixed: more likely in some states, less in others", unclear: "unclear: never seen both with and without" };

function edgeNumbers(edge) {
  const sure = edge.confidence === undefined ? "" : `; confidence ${percent(edge.confidence)}`;
  return `${meaning[edge.effect]}${edge.effect === "unclear" ? "" : ` ${factorOf(edge)}`}; seen ${number(edge.nWith)} times with, ${number(edge.nWithout)} without${sure}`;
}
