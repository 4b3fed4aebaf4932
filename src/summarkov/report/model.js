// The model, as the page was given it, and what everything else looks up in it.
const model = JSON.parse(document.getElementById("model").textContent);
const { labels, joint } = model;
const sumOf = (numbers) => numbers.reduce((a, b) => a + b, 0);
// How sequences end is a label of its own; that they do not end so is none to show.
const outcomes = new Set(model.outcome ?? []);
const everyone = labels.map((_, code) => code).filter((code) => code !== model.outcome?.[1]);
const UNKNOWN = labels.length;  // the code of an event that says nothing
// Attributes hold of whole sequences and are no events: they have no place, and are counted by sequence.
const attributes = new Set(model.attributes);
const isEvent = (code) => !attributes.has(code) && !outcomes.has(code);
const nEvents = model.n.reduce((sum, n, code) => (isEvent(code) ? sum + n : sum), 0);
// What shares are taken of: events, ticks where several events happen together, or sequences.
const wholeOf = (code) => (isEvent(code) ? (model.together ? model.positions : nEvents) : model.sequences);
const rate = (code) => model.n[code] / wholeOf(code);
const thing = model.together ? "tick" : "event";
const thingsOf = (code) => (isEvent(code) ? `${thing}s` : model.outcome ? "cases" : "sequences");
const usualOf = (code) => `its share of all ${thingsOf(code)}`;

// The surest first, as everywhere; evidence is the logarithm of the factor that is sure. Of hits and n the first
// is after the influencer, the second otherwise.
const endless = (value) => (value === null ? NaN : value > 1e300 ? Infinity : value);
const edges = model.edges.map(([from, to, effect, evidence, faint, numbers, verdict, support, confidence, order], number) => {
  const [hits, n, hitsOtherwise, nOtherwise, ratio, low, high, sequences, sequencesWith] = numbers;
  return { number, from, to, effect, evidence, faint, hits: [hits, hitsOtherwise], n: [n, nOtherwise], ratio: endless(ratio), low: endless(low), high: endless(high), sequences, sequencesWith, verdict, support, confidence: confidence ?? undefined, order };
});
const edgeBetween = new Map(edges.map((edge) => [edge.from * labels.length + edge.to, edge]));
for (const edge of edges) edge.returns = edge.from !== edge.to && edgeBetween.has(edge.to * labels.length + edge.from);
const incoming = labels.map(() => []);
const outgoing = labels.map(() => []);
for (const edge of edges) {
  incoming[edge.to].push(edge);
  outgoing[edge.from].push(edge);
}

// For every label, the model that it is a target of, and its place among that model's outcomes.
// Targets come as columns, and those with the same states and the same summary share them.
const modelOf = labels.map(() => null);
const targets = model.targets.x.map((_, i) => Object.fromEntries(Object.entries(model.targets).map(([key, column]) => [key, column[i]])));
for (const target of targets) {
  Object.assign(target, model.states[target.states], { summary: model.summaries[target.summary] });
  target.x.forEach((code, outcome) => { modelOf[code] ??= { target, outcome }; });
}
// A graph over all labels has a next-event distribution: its models' probabilities, divided by their sum; not where
// several events may come together.
const normalised = model.graph && !model.together && modelOf.every((its, code) => its || attributes.has(code));
// What a history is put to: of an outcome one of the further tables, of cases that were open after as many events; all of a bag.
const predicting = model.outcome ? targets.slice(1) : targets;
