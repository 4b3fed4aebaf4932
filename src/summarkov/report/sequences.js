// Real sequences, if the page was given some: the probability of a label along one, and why it is what it is.
const sequencesPanel = document.getElementById("panel-sequences");
const looked = { sequence: 0, label: null, at: null };  // which sequence, whose probability, and before which event

function buildSequences() {
  document.getElementById("tab-sequences").hidden = !model.cases;
  if (!model.cases) return;
  const choice = (id, says, options, change) => make("label", { class: "small which" }, `${says} `, make("select", { id, onchange: (event) => { change(event.target.value); showSequence(); } }, ...options.map(([value, text]) => make("option", { value }, text))));
  const targets = everyone.filter((code) => modelOf[code]);
  looked.label = targets.includes(state.chosen) ? state.chosen : targets[0];
  sequencesPanel.append(
    make("p", { class: "small" }, `${plural(model.cases.length, "sequence")} of the data ${model.cases.length === 1 ? "is" : "are"} part of this page: mail it only to people who may read them.`),
    make("div", { class: "row" },
      choice("which-sequence", "Sequence", model.cases.map(([title], i) => [i, visible(title)]), (value) => { looked.sequence = Number(value); looked.at = null; }),
      choice("which-label", "Probability of", targets.map((code) => [code, names[code]]), (value) => { looked.label = Number(value); })),
    make("div", { id: "along" }), make("p", { class: "key" }, "A dot where it occurred; dashed: its share of all events."), make("ol", { class: "history events", "aria-label": "The sequence, oldest first" }), make("div", { id: "why-here" }));
  lookAt(looked.label);
}

// The label that is chosen elsewhere is the one to look at here.
function lookAt(code) {
  if (!model.cases || code === null || !modelOf[code]) return;
  looked.label = code;
  document.getElementById("which-label").value = code;
  document.getElementById("which-sequence").value = looked.sequence;
  showSequence();
}

// The sequences of this page in which the target of an edge came within the window of its influencer.
function casesOf(edge) {
  const { u, summary } = modelOf[edge.to].target, reach = summary.reach?.[u.indexOf(edge.from)], delay = summary.delay ?? 0;
  const found = (model.cases ?? []).map(([title, codes], i) => [i, title, codes.findIndex((code, at) => code === edge.to && distances(codes.slice(0, at), edge.from, reach ?? null, delay).length)]).filter(([, , at]) => at >= 0);
  if (!found.length) return [];
  const box = make("p", { class: "cases" }), show = ([i, title, at]) => make("button", { type: "button", class: "link", onclick: () => { Object.assign(looked, { sequence: i, at }); lookAt(edge.to); showTab("sequences"); } }, visible(title), " ");
  return [make("h4", {}, `Sequences in which it followed: ${found.length} of the ${model.cases.length} in this page`), box, firstOf(found, 12, box, show) ?? ""];
}

const beforeEvent = (codes, at, label) => predict(codes.slice(0, at)).find(({ code }) => code === label);

function showSequence() {
  const [, codes, cut] = model.cases[looked.sequence], { label } = looked;
  const found = codes.map((_, at) => beforeEvent(codes, at, label));
  if (looked.at === null) looked.at = Math.max(codes.indexOf(label), 0);
  const here = found[looked.at], past = codes.slice(0, looked.at);
  document.getElementById("along").replaceChildren(lineAlong(codes, found, label));
  const lit = litBy(here, past);
  sequencesPanel.querySelector(".events").replaceChildren(...codes.map((code, at) => make("li", { class: [at === looked.at ? "asked" : "", lit.has(at) ? "lit" : "", code === label ? "own" : ""].join(" ").trim() || null },
    make("button", { type: "button", class: "event", "aria-pressed": at === looked.at, "data-at": at, onclick: () => { looked.at = at; showSequence(); sequencesPanel.querySelector(`[data-at="${at}"]`).focus(); } }, name(code, true)))),
    cut ? make("li", { class: "now" }, `and ${plural(cut, "more event")}`) : "");
  document.getElementById("why-here").replaceChildren(
    make("h3", {}, "Why here?"),
    make("p", {}, `Before event ${number(looked.at + 1)} the probability of `, name(label), ` is ${percent(here.p)}; its share of all events is ${percent(rate(label))}. What came was `, name(codes[looked.at]), "."),
    make("p", { class: "why" }, normalised && !joint ? `Its own model says ${percent(here.own)} ` : "", ...because(here)),
    make("p", { class: "key" }, "Choose an event to ask before it. Marked: the events by which the model tells the state."));
}

// The places of the events that the model of a label looks at and finds.
function litBy({ target }, past) {
  const { reach, delay, order } = target.summary;
  if (!reach) return new Set(past.map((_, at) => at).slice(-(order ?? 0)));
  return new Set(target.u.flatMap((code, i) => distances(past, code, reach[i], delay ?? 0).map((distance) => past.length - distance)));
}

function lineAlong(codes, found, label) {
  const width = 360, height = 110, left = 42, bottom = 92, n = codes.length;
  const most = niceTop(Math.max(...found.map(({ p }) => p), rate(label)));
  const x = (at) => left + ((at + 0.5) * (width - left)) / n, y = (p) => bottom - (p / most) * (bottom - 10);
  const drawn = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": `Probability of ${names[label]} before each of ${n} events, from ${percent(Math.min(...found.map(({ p }) => p)))} to ${percent(Math.max(...found.map(({ p }) => p)))}` });
  for (const p of [0, most / 2, most]) drawn.append(shape("path", { class: "tick", d: `M${left},${y(p)} H${width}` }), worded(percent(p), left - 4, y(p) + 4, "end"));
  drawn.append(shape("path", { class: "one", d: `M${left},${y(rate(label))} H${width}` }),
    shape("path", { class: "whisker", d: found.map(({ p }, at) => `${at ? "L" : "M"}${x(at).toFixed(1)},${y(p).toFixed(1)}`).join(" ") }),
    shape("path", { class: "here", d: `M${x(looked.at)},8 V${bottom}` }));
  codes.forEach((code, at) => { if (code === label) drawn.append(shape("circle", { class: "dot amplifies", cx: x(at), cy: y(found[at].p), r: 4 })); });
  drawn.append(worded("events", (left + width) / 2, height - 3));
  return drawn;
}
