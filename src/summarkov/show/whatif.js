// A history of one's own, and what it makes of every label's probability.
const whatifPanel = document.getElementById("panel-whatif");
let past = { events: [], given: usualValues(), wait: 0 };
let unit = usualUnit;
let showEvery = false;

// By difference first: a rare label changes by a large factor where next to nothing changes.
const orders = {
  difference: { says: "difference", of: (each) => Math.abs(each.p - rate(each.code)) },
  factor: { says: "factor", of: (each) => Math.abs(Math.log(upBy(each))) },
  probability: { says: "probability", of: (each) => each.p },
};

// One more event, the usual time after the last one; or what holds of the sequence, instead of another value.
const usualGap = () => (clock ? (past.events.length ? past.events.at(-1).gap || fromUnit(1, unit) : 0) : 0);
function addToHistory(code, ...focus) {
  if (attributes.has(code)) changePast({ given: [...historyOf(past).and(code).given] }, ...focus);
  else if (isEvent(code)) changePast({ events: [...past.events, { code, joined: false, gap: usualGap() }] }, ...focus);
}

// A new history; the focus stays where the hand is, at the first of some places that is there.
function changePast(changes, ...focus) {
  past = { ...past, ...changes };
  showWhatIf();
  remember();
  focus.map((place) => whatifPanel.querySelector(place)).find(Boolean)?.focus();
}
const changeEvent = (i, changes, ...focus) => changePast({ events: past.events.map((each, j) => (j === i ? { ...each, ...changes } : each)) }, ...focus);

function buildWhatIf() {
  if (!computable) {
    whatifPanel.append(make("p", {}, "The summary of this model is a function written in Python, which a page cannot compute. Use ", make("code", {}, "explain"), " or ", make("code", {}, "predict_proba"), " in Python instead."));
    return;
  }
  const input = make("input", { id: "next", type: "text", placeholder: "Add an event", "aria-label": "Add an event to the history", autocomplete: "off", spellcheck: "false" });
  const units = timeUnits.map(([short, long]) => make("option", { value: short, selected: short === unit?.[0] }, long));
  whatifPanel.append(
    make("p", { class: "small" }, model.outcome ? "What if these events have happened so far? " : "What if these events had happened? ", "Type them, or click labels in the graph, oldest first.", model.together ? " “Then” and “with” say which happened together." : ""),
    make("div", { class: "row", id: "given", hidden: !attributeColumns.size }),
    make("div", { class: "row no-print" }, make("div", { class: "picker" }, input), make("button", { type: "button", id: "clear", onclick: () => changePast({ events: [], wait: 0 }, "#next") }, "Clear"),
      clock?.isClock ? make("label", { class: "small" }, "Times in ", make("select", { id: "unit", onchange: (event) => { unit = timeUnits[event.target.selectedIndex]; showWhatIf(); } }, units)) : ""),
    make("ol", { class: "history", "aria-label": "History, oldest first" }),
    make("div", { class: "row no-print", id: "sorting" }, make("label", { class: "small" }, "Sort by ", make("select", { id: "order", onchange: showWhatIf }, ...Object.entries(orders).map(([value, { says }]) => make("option", { value }, says))))),
    make("p", { class: "key", id: "what" }),
    make("ol", { class: "forecast", "aria-label": model.outcome ? "Probability of the outcome" : "Probabilities of the next event" }),
    make("div", { class: "no-print", id: "more" }));
  picker(input, (code) => addToHistory(code, "#next"), everyone.filter(isEvent));
  document.getElementById("sorting").hidden = Boolean(model.outcome) || (predicting.length === 1 && predicting[0].x.length === 1);
  showWhatIf();
}

// What holds of the whole sequence, to choose from.
function givenChoice([column, codes]) {
  const holds = codes.find((code) => past.given.includes(code)), options = isAlwaysThere(codes) ? codes : [null, ...codes];
  const change = (event) => { const code = options[event.target.selectedIndex]; changePast({ given: [...past.given.filter((each) => !codes.includes(each)), ...(code === null ? [] : [code])] }, `[data-column="${CSS.escape(column)}"]`); };
  const says = (code) => (code === null ? "none" : names[code] === visible(column) ? "holds" : visible(labels[code].slice(column.length + 1)));
  return make("label", { class: "small which" }, visible(column), " ", make("select", { "data-column": column, onchange: change }, ...options.map((code) => make("option", { selected: code === (holds ?? null) }, says(code)))));
}

// How long after the one before, in the unit that was chosen.
function timeInput(steps, says, change) {
  return make("label", { class: "gap" }, make("input", { type: "number", min: 0, step: "any", value: inUnit(steps, unit), "aria-label": `${says}, in ${unit[1]}`, onchange: (event) => change(fromUnit(Math.max(0, Number(event.target.value) || 0), unit)) }), ` ${unit[0]} later`);
}

function chip({ code, joined, gap }, i) {
  const { events } = past, last = events.length - 1;
  const move = (to) => { const now = [...events]; now.splice(to, 0, ...now.splice(i, 1)); changePast({ events: now }, `[data-move="${to} ${to < i ? "<" : ">"}"]:not(:disabled)`, `[data-move^="${to} "]:not(:disabled)`); };
  const act = (text, says, action, off, data) => make("button", { type: "button", "aria-label": `${says} ${names[code]}`, title: says, disabled: off, onclick: action, ...data }, text);
  const when = i === 0 ? null : [
    model.together ? make("button", { type: "button", class: "joined", "aria-pressed": joined, "data-joined": i, title: "Together with the one before it, or after it", onclick: () => changeEvent(i, { joined: !joined }, `[data-joined="${i}"]`) }, joined ? "with" : "then") : null,
    clock && !joined ? timeInput(gap, `How long after the one before it: ${names[code]}`, (now) => changeEvent(i, { gap: now })) : null];
  return make("li", {}, when,
    act("‹", "Move earlier:", () => move(i - 1), i === 0, { "data-move": `${i} <` }),
    name(code, true),
    act("›", "Move later:", () => move(i + 1), i === last, { "data-move": `${i} >` }),
    act("×", "Remove", () => changePast({ events: events.filter((_, j) => j !== i) }, "#next"), false, { "data-remove": i }));
}

// What is asked at the end of the history.
function question() {
  const asks = model.outcome ? "how does it end?" : model.together ? "what comes in the next tick?" : "what comes next?";
  if (!past.events.length) return ["no events yet: the start of a sequence"];
  return [clock ? timeInput(past.wait, "How long after the last one", (wait) => changePast({ wait })) : "", make("span", {}, asks)];
}

function showWhatIf() {
  if (!computable) return;
  whatifPanel.classList.toggle("no-print", !past.events.length && past.given.every((code) => usualValues().includes(code)));  // a history of nothing is no page on paper
  whatifPanel.querySelector(".history").replaceChildren(...past.events.map(chip), make("li", { class: "now" }, question()));
  document.getElementById("given").replaceChildren(...[...attributeColumns].map(givenChoice));
  const { of } = orders[document.getElementById("order").value];
  const found = predict(historyOf(past)).sort((a, b) => of(b) - of(a) || a.code - b.code);
  const most = niceTop(Math.max(...found.map((each) => Math.max(each.p, rate(each.code)))));
  document.getElementById("what").textContent = whatKey(most);
  for (const each of found) {
    const way = wayOf(each), group = drawnNodes[each.code];
    group.classList.toggle("up", way === "up");
    group.classList.toggle("down", way === "down");
    group.querySelector(".sign").textContent = signs[way];
  }
  const list = whatifPanel.querySelector(".forecast");
  list.replaceChildren();
  const more = firstOf(found, showEvery ? Infinity : 25, list, (each) => forecast(each, most));
  more?.addEventListener("click", () => { showEvery = true; });
  document.getElementById("more").replaceChildren(more ?? "");
}

function whatKey(most) {
  const of = model.outcome ? "of this outcome, from the cases that had got as far" : normalised ? "of being the next event" : model.together ? "of being in the next tick" : "by its model";
  return `Bar: probability ${of};${joint ? "" : " bracket: its 95% interval;"} dashed line: ${model.outcome ? "its share of all cases that had got as far" : usualOf(targets[0].x[0])}. All bars have one scale, up to ${percent(most)}.`;
}

const signs = { up: "▲", down: "▼", quiet: "" };
const usualIn = (each) => each.usual ?? rate(each.code);
const upBy = (each) => (usualIn(each) > 0 ? each.p / usualIn(each) : Infinity);
const wayOf = (each) => (each.isCertain ? "quiet" : upBy(each) > 1.05 ? "up" : upBy(each) < 0.95 ? "down" : "quiet");

function forecast(each, most) {
  const usual = usualIn(each), way = wayOf(each), [low, high] = exactInterval(each.hits, each.support, each.own).map((end) => (end * each.p) / each.own);
  return make("li", { "data-code": each.code, "data-p": each.p, "data-own": each.own },
    nameButton(each.code, addToHistory, "Add to the history"), make("span", { class: "number" }, each.isCertain ? "already reached" : percent(each.p)), make("span", { class: `change number ${way}` }, each.isCertain ? "" : `${signs[way]} ${usual > 0 ? factor(upBy(each)) : "never seen"}`),
    bar(each.p, most, { usual, ...(each.support && !each.isCertain ? { low, high } : {}) }),
    make("div", { class: "why" }, `usually ${percent(usual)}; `, normalised && !joint ? `before scaling ${percent(each.own)} ` : "", ...because(each), each.isCertain ? "" : otherwiseOf(each)));
}

const seenWords = ({ support, after, isNearby }) => (model.outcome ? `${plural(support, "case")} ${isNearby ? "around" : "after"} ${plural(after, thing)}` : `seen ${number(support)} times`);
const because = (each) => each.isCertain ? ["it was already reached"] : each.why ? ["because of ", ...whyWords(each)] : [each.support ? `(${exactInterval(each.hits, each.support, each.own).map(percent).join(" to ")}) after ` : "after ", ...stateWords(each.target, each.key, each.row), `, ${each.support ? seenWords(each) : "never seen, so this is the prior alone"}`, each.support ? seldom(each.support, each.target) : null];

// What would be different, worked out when somebody asks.
function otherwiseOf(each) {
  const list = make("ul", { class: "otherwise" });
  const now = historyOf(past);
  const box = make("details", { ontoggle: () => {
    if (list.childElementCount) return;
    const found = otherwise(now, each).sort((a, b) => a.occurred - b.occurred || Math.abs(b.own - each.own) - Math.abs(a.own - each.own));
    list.append(...found.map((had) => make("li", {}, "had ", name(had.code), attributes.has(had.code) ? (had.occurred ? " held: " : " not held: ") : had.occurred ? " occurred just now: " : " not occurred: ", make("strong", {}, percent(had.own)), " ", ...because(had))));
    if (!found.length) list.append(make("li", {}, "It has no influencers."));
  } }, make("summary", {}, "And otherwise?"), list);
  return box;
}
