// Real sequences, if the page was given some: the probability of a label along one, and why it is what it is.
const sequencesPanel = document.getElementById("panel-sequences");
const looked = { sequence: 0, label: null, at: null };  // which sequence, whose probability, and before which of its moments

// A sequence of the page as a history that is over.
function caseOf(i) {
  const [, codes, , { joined = [], gaps = [], given = [] } = {}] = model.cases[i], isJoined = new Set(joined);
  return historyOf({ events: codes.map((code, at) => ({ code, joined: isJoined.has(at), gap: gaps[at] ?? 0 })), given, wait: 0 });
}

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
    make("div", { id: "along" }), make("p", { class: "key" }, model.outcome ? "A dot where it came about; dashed: its share of all sequences." : `A dot where it occurred; dashed: its share of all ${thingsOf(looked.label)}.`), make("p", { class: "small", id: "holds" }), make("ol", { class: "history events", "aria-label": "The sequence, oldest first" }), make("div", { id: "why-here" }));
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
  if (!model.cases) return [make("p", { class: "key no-print" }, "With some of the events (--sequences, or sequences= in Python) this leads to sequences in which it followed.")];
  const window = windowOf(modelOf[edge.to].target, edge.from);
  const found = model.cases.map(([title], i) => {
    const past = caseOf(i), isBehind = (before) => before.given.has(edge.from) || before.found(edge.from, ...window).length > 0;
    return [i, title, past.moments.findIndex(({ codes }, at) => codes.includes(edge.to) && isBehind(past.before(at)))];
  }).filter(([, , at]) => at >= 0);
  if (!found.length) return [];
  const box = make("p", { class: "cases" }), show = ([i, title, at]) => make("button", { type: "button", class: "link", onclick: () => { Object.assign(looked, { sequence: i, at }); lookAt(edge.to); showTab("sequences"); } }, visible(title), " ");
  return [make("h4", {}, `Sequences in which it followed: ${found.length} of the ${model.cases.length} in this page`), box, firstOf(found, 12, box, show) ?? ""];
}

function showSequence() {
  const [, , cut] = model.cases[looked.sequence], { label } = looked, past = caseOf(looked.sequence);
  const found = past.moments.map((_, at) => predict(past.before(at)).find(({ code }) => code === label));
  if (looked.at === null) looked.at = model.outcome ? past.moments.length - 1 : Math.max(past.moments.findIndex(({ codes }) => codes.includes(label)), 0);
  const { at } = looked, here = found[at], lit = litBy(here, past.before(at));
  document.getElementById("along").replaceChildren(lineAlong(past, found, label));
  document.getElementById("holds").replaceChildren(...(past.given.size ? ["Of this sequence holds: ", ...joined([...past.given].map((code) => name(code)), ", "), "."] : []));
  sequencesPanel.querySelector(".events").replaceChildren(...past.rows.map((row, i) => eventChip(row, past.rows[i - 1], [row.at === at ? "asked" : "", lit.has(i) ? "lit" : "", row.code === label ? "own" : ""])),
    cut ? make("li", { class: "now" }, `and ${plural(cut, "more event")}`) : "");
  document.getElementById("why-here").replaceChildren(
    make("h2", {}, "Why here?"),
    make("p", {}, `${model.outcome ? `After ${plural(at, thing)}` : `Before ${thing} ${number(at + 1)}`} the probability of `, name(label), ` is ${here.isCertain ? "not asked any more: already reached" : percent(here.p)}; ${model.outcome ? `of all cases that were open then ${percent(here.usual)} come to it` : `${usualOf(label)} is ${percent(rate(label))}`}. What came was `, ...joined(past.moments[at].codes.map((code) => name(code)), " with "), "."),
    make("p", { class: "why" }, normalised && !joint ? `Before scaling ${percent(here.own)} ` : "", ...because(here)),
    make("p", { class: "key" }, "Choose an event to ask before it. Marked: the events by which the model tells the state."));
}

// An event of the sequence, with how it stands to the one before.
function eventChip({ code, at, time }, before, classes) {
  const when = !before ? "" : before.at === at ? "with" : clock ? (time > before.time ? `${timeWords(time - before.time)} later` : "at once") : "";
  const pick = () => { looked.at = at; showSequence(); sequencesPanel.querySelector(`[data-at="${at}"]`).focus(); };
  return make("li", { class: classes.join(" ").trim() || null }, when ? make("span", { class: "when" }, when) : "",
    make("button", { type: "button", class: "event", "aria-pressed": at === looked.at, "data-at": at, onclick: pick }, name(code, true)));
}

// The rows of a history that the model of a label looks at and finds.
function litBy({ target }, past) {
  const { reach, order } = target.summary;
  if (!reach) return new Set(past.rows.map((_, row) => row).slice(-(order ?? 0)));
  return new Set(target.u.flatMap((code) => past.found(code, ...windowOf(target, code))));
}

function lineAlong(past, found, label) {
  const width = 360, height = 110, left = 42, bottom = 92, n = past.moments.length;
  const most = niceTop(Math.max(...found.map(({ p }) => p), rate(label)));
  const x = (at) => left + ((at + 0.5) * (width - left)) / n, y = (p) => bottom - (p / most) * (bottom - 10), things = `${thing}s`;
  const drawn = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": `Probability of ${names[label]} before each of ${n} ${things}, from ${percent(Math.min(...found.map(({ p }) => p)))} to ${percent(Math.max(...found.map(({ p }) => p)))}` });
  for (const p of [0, most / 2, most]) drawn.append(shape("path", { class: "tick", d: `M${left},${y(p)} H${width}` }), worded(percent(p), left - 4, y(p) + 4, "end"));
  drawn.append(shape("path", { class: "one", d: `M${left},${y(rate(label))} H${width}` }),
    shape("path", { class: "whisker", d: found.map(({ p }, at) => `${at ? "L" : "M"}${x(at).toFixed(1)},${y(p).toFixed(1)}`).join(" ") }),
    shape("path", { class: "here", d: `M${x(looked.at)},8 V${bottom}` }));
  past.moments.forEach(({ codes }, at) => { if (codes.includes(label)) drawn.append(shape("circle", { class: "dot amplifies", cx: x(at), cy: y(found[at].p), r: 4 })); });
  drawn.append(worded(things, (left + width) / 2, height - 3));
  return drawn;
}
