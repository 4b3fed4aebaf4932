// The model, as the page was given it, and what everything else looks up in it.
const model = JSON.parse(document.getElementById("model").textContent);
const { labels, joint } = model;
// What has one entry per edge or per target comes in columns.
const rowsOf = (table) => (Object.values(table)[0] ?? []).map((_, i) => Object.fromEntries(Object.entries(table).map(([key, column]) => [key, column[i]])));
const sumOf = (numbers) => numbers.reduce((a, b) => a + b, 0);
// How sequences end is a label of its own; that they do not end so is none to show.
const outcomes = new Set(model.outcome ?? []);
const everyone = labels.map((_, code) => code).filter((code) => code !== model.outcome?.[1]);
const UNKNOWN = labels.length;  // the code of an event that says nothing
// Attributes hold of whole sequences and are no events: they have no place, and are counted by sequence.
const attributes = new Set(model.attributes);
// The end of a case is what may come next after an event, and none itself.
const isEnd = (code) => code === model.end;
const isEvent = (code) => !attributes.has(code) && !outcomes.has(code) && !isEnd(code);
const nEvents = model.n.reduce((sum, n, code) => (isEvent(code) ? sum + n : sum), 0);
// What shares are taken of: moments, which are events, or ticks where several happen together, and ends; or cases.
const nMoments = model.together ? model.positions : nEvents + (model.n[model.end] ?? 0);
const wholeOf = (code) => (isEvent(code) || isEnd(code) ? nMoments : model.sequences);
const rate = (code) => model.n[code] / wholeOf(code);
const thing = model.together ? "tick" : "event";
const thingsOf = (code) => (!isEvent(code) && !isEnd(code) ? "cases" : model.end === null ? `${thing}s` : "moments");
const usualOf = (code) => `its share of all ${thingsOf(code)}`;

// The surest first, as everywhere; evidence is the logarithm of the lower bound of the effect. Of hits and n the first
// is with the influencer in the window, the second without; of occurrences and followed, the influencer's and all others.
const endless = (value) => (value === null ? NaN : value > 1e300 ? Infinity : value);
const edges = rowsOf(model.edges).map((known, number) => ({ ...known, known, number, from: known.influencer, to: known.target, aside: known.set_aside,
  hits: [known.hits_with, known.hits_without], n: [known.n_with, known.n_without], occurrences: [known.occurrences, known.occurrences_other], followed: [known.followed, known.followed_other],
  ratio: endless(known.ratio), low: endless(known.low), high: endless(known.high), confidence: known.frequency ?? undefined }));
const edgeBetween = new Map(edges.map((edge) => [edge.from * labels.length + edge.to, edge]));
for (const edge of edges) edge.returns = edge.from !== edge.to && edgeBetween.has(edge.to * labels.length + edge.from);
const incoming = labels.map(() => []);
const outgoing = labels.map(() => []);
for (const edge of edges) {
  incoming[edge.to].push(edge);
  outgoing[edge.from].push(edge);
}

// For every label, the model that it is a target of, and its place among that model's outcomes.
// Those with the same states and the same summary share them.
const modelOf = labels.map(() => null);
const targets = rowsOf(model.targets);
for (const target of targets) {
  Object.assign(target, model.states[target.states], { summary: model.summaries[target.summary] });
  target.x.forEach((code, outcome) => { modelOf[code] ??= { target, outcome }; });
}
// A graph over all labels has a next-event distribution: its models' probabilities, divided by their sum; not where
// several events may come together.
const normalised = model.graph && !model.together && modelOf.every((its, code) => its || attributes.has(code));
// What a history is put to: of an outcome one of the further tables, of cases that were open after as many events.
const predicting = model.outcome ? targets.slice(1) : targets;
