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
  if (typeof k === "string" || typeof delay === "string") return `${k === null ? "before" : `within the last ${placeWords(k)}`}${delay ? `, more than ${placeWords(delay)} ago` : ""}`;
  if (target.summary.kind === "tree") return k === null ? "before" : k === 1 ? "just before" : `up to ${k} ${thing}s before`;
  if (k === null) return delay ? `more than ${plural(delay, thing)} before` : model.outcome ? "at any time" : "at any time before";
  if (k === delay + 1) return delay ? `${k} ${thing}s before` : "just before";
  return delay ? `${delay + 1} to ${k} ${thing}s before` : `within the last ${k} ${thing}s`;
}

// What is said of an influence: both rates with their counts, what follows from them, and what stands behind it.
const rateOf = (edge, which) => (edge.n[which] ? percent(edge.hits[which] / edge.n[which]) : "never seen");
const countedRate = (edge, which) => (edge.n[which] ? `${rateOf(edge, which)} (${number(edge.hits[which])} of ${number(edge.n[which])})` : "never seen");
const rates = (edge) => `${countedRate(edge, 0)}, otherwise ${countedRate(edge, 1)}`;
const change = (edge) => `${rateOf(edge, 1)} → ${rateOf(edge, 0)}`;
const times = (edge) => ({ mixed: "mixed", unclear: "" })[edge.effect] ?? factor(edge.ratio);
const edgeWords = (edge) => visible(`${rates(edge)}: ${edge.verdict}${edge.support ? ` (${edge.support})` : ""}`);
const classOf = (edge) => `${edge.effect}${edge.faint ? " faint" : ""}${edge.faint === "competition only" ? " room" : ""}`;
// The same for those who hear the page, and as a sentence of its own to copy.
const shortWords = (edge) => `${names[edge.from]} ${edge.effect === "unclear" ? "has an unclear influence on" : edge.effect === "mixed" ? "has a mixed influence on" : edge.effect} ${edge.from === edge.to ? "itself" : names[edge.to]}, ${rateOf(edge, 0)} instead of ${rateOf(edge, 1)}${edge.faint ? `, ${edge.faint}` : ""}`;
// After an event; or where an attribute holds.
const after = (influencer) => (attributes.has(influencer) ? "where" : "after");
const sentenceOf = (edge) => visible(`${attributes.has(edge.from) ? "Where" : "After"} '${names[edge.from]}' ${windowWords(modelOf[edge.to].target, edge.from)}, '${names[edge.to]}' ${outcomes.has(edge.to) ? "comes about at" : "follows at"} ${rates(edge)}${edge.support ? `, ${edge.support}` : ""}: ${edge.verdict}.`);
