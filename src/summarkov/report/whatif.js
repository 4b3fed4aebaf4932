// A history of one's own, and what it makes of every label's probability.
const whatifPanel = document.getElementById("panel-whatif");
let past = [];
let showEvery = false;

// By difference first: a rare label changes by a large factor where next to nothing changes.
const orders = {
  difference: { says: "difference", of: (each) => Math.abs(each.p - rate(each.code)) },
  factor: { says: "factor", of: (each) => Math.abs(Math.log(upBy(each))) },
  probability: { says: "probability", of: (each) => each.p },
};

function addToHistory(code) { changePast([...past, code]); }

// A new history; the focus stays where the hand is, at the first of some places that is there.
function changePast(now, ...focus) {
  past = now;
  showWhatIf();
  remember();
  focus.map((place) => whatifPanel.querySelector(place)).find(Boolean)?.focus();
}

function buildWhatIf() {
  if (!computable) {
    whatifPanel.append(make("p", {}, model.timed ? "This model looks back over times, which a history of labels does not have. Use " : "The summary of this model is a function written in Python, which a page cannot compute. Use ", make("code", {}, "explain"), " or ", make("code", {}, "predict_proba"), " in Python instead."));
    return;
  }
  const input = make("input", { id: "next", type: "text", placeholder: "Add an event", "aria-label": "Add an event to the history", autocomplete: "off", spellcheck: "false" });
  whatifPanel.append(
    make("p", { class: "small" }, "What if these events had happened? Type them, or click labels in the graph, oldest first."),
    make("div", { class: "row no-print" }, make("div", { class: "picker" }, input), make("button", { type: "button", id: "clear", onclick: () => changePast([], "#next") }, "Clear")),
    make("ol", { class: "history", "aria-label": "History, oldest first" }),
    make("div", { class: "row no-print" }, make("label", { class: "small" }, "Sort by ", make("select", { id: "order", onchange: showWhatIf }, ...Object.entries(orders).map(([value, { says }]) => make("option", { value }, says))))),
    make("p", { class: "key", id: "what" }),
    make("ol", { class: "forecast", "aria-label": "Probabilities of the next event" }),
    make("div", { class: "no-print", id: "more" }));
  picker(input, (code) => changePast([...past, code], "#next"));
  showWhatIf();
}

function chip(code, i) {
  const move = (to) => { const now = [...past]; now.splice(to, 0, ...now.splice(i, 1)); changePast(now, `[data-move="${to} ${to < i ? "<" : ">"}"]:not(:disabled)`, `[data-move^="${to} "]:not(:disabled)`); };
  const act = (text, says, action, off, data) => make("button", { type: "button", "aria-label": `${says} ${names[code]}`, title: says, disabled: off, onclick: action, ...data }, text);
  return make("li", {},
    act("‹", "Move earlier:", () => move(i - 1), i === 0, { "data-move": `${i} <` }),
    name(code, true),
    act("›", "Move later:", () => move(i + 1), i === past.length - 1, { "data-move": `${i} >` }),
    act("×", "Remove", () => changePast(past.filter((_, j) => j !== i), "#next"), false, { "data-remove": i }));
}

function showWhatIf() {
  if (!computable) return;
  whatifPanel.querySelector(".history").replaceChildren(...past.map(chip), make("li", { class: "now" }, past.length ? "what comes next?" : "no events yet: the start of a sequence"));
  const { of } = orders[document.getElementById("order").value];
  const found = predict(past).sort((a, b) => of(b) - of(a) || a.code - b.code);
  const most = niceTop(Math.max(...found.map((each) => Math.max(each.p, rate(each.code)))));
  document.getElementById("what").textContent = `Bar: probability ${normalised ? "of being the next event" : "by its model"};${joint ? "" : " bracket: its 95% interval;"} dashed line: share of all events. All bars have one scale, up to ${percent(most)}.`;
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

const signs = { up: "▲", down: "▼", quiet: "" };
const upBy = (each) => (rate(each.code) > 0 ? each.p / rate(each.code) : Infinity);
const wayOf = (each) => (upBy(each) > 1.05 ? "up" : upBy(each) < 0.95 ? "down" : "quiet");

function forecast(each, most) {
  const usual = rate(each.code), way = wayOf(each), [low, high] = exactInterval(each.hits, each.support).map((end) => (end * each.p) / each.own);
  return make("li", { "data-code": each.code, "data-p": each.p, "data-own": each.own },
    nameButton(each.code, addToHistory, "Add to the history"), make("span", { class: "number" }, percent(each.p)), make("span", { class: `change number ${way}` }, `${signs[way]} ${usual > 0 ? factor(upBy(each)) : "never seen"}`),
    bar(each.p, most, { usual, ...(each.support ? { low, high } : {}) }),
    make("div", { class: "why" }, `usually ${percent(usual)}; `, normalised && !joint ? `its own model says ${percent(each.own)} ` : "", ...because(each), otherwiseOf(each)));
}

const because = (each) => each.why ? ["because of ", ...whyWords(each)] : [each.support ? `(${exactInterval(each.hits, each.support).map(percent).join(" to ")}) after ` : "after ", ...stateWords(each.target, each.key, each.row), `, ${each.support ? `seen ${number(each.support)} times` : "never seen, so this is the prior alone"}`, each.support ? seldom(each.support, each.target) : null];

// What would be different, worked out when somebody asks.
function otherwiseOf(each) {
  const list = make("ul", { class: "otherwise" });
  const now = past;
  const box = make("details", { ontoggle: () => {
    if (list.childElementCount) return;
    const found = otherwise(now, each).sort((a, b) => a.occurred - b.occurred || Math.abs(b.own - each.own) - Math.abs(a.own - each.own));
    list.append(...found.map((had) => make("li", {}, "had ", name(had.code), attributes.has(had.code) ? (had.occurred ? " held: " : " not held: ") : had.occurred ? " occurred just now: " : " not occurred: ", make("strong", {}, percent(had.own)), " ", ...because(had))));
    if (!found.length) list.append(make("li", {}, "It has no influencers."));
  } }, make("summary", {}, "And otherwise?"), list);
  return box;
}
