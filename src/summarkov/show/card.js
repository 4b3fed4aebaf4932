// The sentences behind an edge and of a label, if the page was given them.
const quoted = model.passages;

function cited(at, ...more) {
  const [document, place, text, cut] = quoted.sentences[at];
  return make("div", { class: "quote" },
    make("div", { class: "where" }, make("bdi", { dir: "auto" }, visible(document)), `, sentence ${number(place)}`, ...more),
    make("p", { dir: "auto" }, visible(text), cut ? make("span", { class: "quiet" }, `… (${number(cut)} more characters)`) : null));
}

const before = (lag) => (lag === 1 ? "just before" : `${number(lag)} ${thing}s before`);

function passage([lag, from, to], edge) {
  return make("li", {}, cited(from, " · ", name(edge.from), " · ", make("span", { class: "lag" }, before(lag))), cited(to, " · ", name(edge.to)));
}

const sentence = (at) => make("li", {}, cited(at));

// How many places there are, which of them are shown, and what they say.
function passageWords(code, edge, total, shown) {
  const which = edge ? ["places where ", name(code), " occurred with ", name(edge.from), ` ${windowWords(modelOf[code].target, edge.from)}${modelOf[code].target.summary.kind === "tree" ? ", and the tree asks for it" : ""}`] : ["places where ", name(code), " occurred, whatever came before"];
  const some = total === 0 ? "There are no " : total === shown ? `The ${number(total)} ` : `${number(shown)} of ${number(total)} `;
  const places = total === 1 ? ["place", which[0].slice(6), ...which.slice(1)] : which;
  return [some, ...places, shown < total ? ", spread evenly over the documents." : ".",
    edge && edge.effect === "inhibits" && total ? " It inhibits, so these are the exceptions." : "",
    quoted.same ? "" : " They are from other events than the model was learned from."];
}

// The passages of a label: by influencer, the strongest first unless another was asked for, or all together.
function passagesOf(code, asked) {
  if (!quoted) return [];
  const from = incoming[code], list = make("ol", { class: "passages" }), words = make("p", { class: "key", id: "which-words", role: "status" }), more = make("div", { class: "no-print" });
  const options = [...from.map((edge) => [edge.number, `with ${names[edge.from]} (${number(quoted.edges[edge.number][0])})`]), ["any", `whatever came before (${number(quoted.labels[code][0])})`]];
  const select = make("select", { id: "which", onchange: fill }, ...options.map(([value, says]) => make("option", { value }, says)));
  if (asked !== undefined) select.value = asked;
  function fill() {
    const edge = select.value === "any" ? null : edges[Number(select.value)];
    const [total, shown] = edge ? quoted.edges[edge.number] : quoted.labels[code];
    words.replaceChildren(...passageWords(code, edge, total, shown.length));
    list.replaceChildren();
    more.replaceChildren(firstOf(shown, 3, list, edge ? (each) => passage(each, edge) : sentence) ?? "");
  }
  fill();
  return [make("h3", { id: "passages" }, "Passages"), make("div", { class: "row no-print" }, make("label", { class: "small which" }, "Where it occurred ", select)), words, list, more];
}

function openPassages(edge) {
  openEdge(edge);
  document.getElementById("passages").scrollIntoView({ block: "start" });
  document.getElementById("which").focus({ preventScroll: true });
}

// A way from an edge in a list to its passages.
function passagesButton(edge) {
  if (!quoted) return null;
  return [" ", make("button", { type: "button", class: "link", onclick: () => openPassages(edge), "data-passages": edge.number }, plural(quoted.edges[edge.number][0], "passage"))];
}

// The evidence for one influence: what was counted, what follows from it, and when the target comes.
function cardOf(edge) {
  const target = modelOf[edge.to].target;
  return [make("section", { class: "card", "aria-label": `Evidence: ${shortWords(edge)}` },
    make("h3", {}, name(edge.from), " → ", edge.from === edge.to ? "itself" : name(edge.to)),
    make("p", { class: "sentence" }, sentenceOf(edge)),
    make("div", { class: "row no-print" }, copyButton("Copy this sentence", () => sentenceOf(edge)), make("button", { type: "button", onclick: () => open(edge.to) }, "Close the evidence"), passagesButton(edge)),
    ...countsOf(edge, windowWords(target, edge.from)),
    ...ratioOf(edge),
    ...lagsOf(edge, target),
    ...casesOf(edge))];
}

// Four counts of occurrences, where they are known: followed or not, of the influencer and of all other events. And four
// counts of moments: with the influencer in the window and without, the target next or anything else.
function countsOf(edge, where) {
  const table = (heads, rows, hits, n) => {
    const most = Math.max(...[0, 1].map((i) => (n[i] ? hits[i] / n[i] : 0)), 1e-9);
    return make("table", { class: "counts" }, make("thead", {}, make("tr", {}, ...heads.map((says, i) => make(i ? "th" : "td", i ? { scope: "col", class: i < 4 ? "number" : null } : {}, says)))),
      make("tbody", {}, ...rows.map((says, i) => make("tr", {}, make("th", { scope: "row" }, says), ...[hits[i], n[i] - hits[i], n[i]].map((each) => make("td", { class: "number" }, number(each))),
        make("td", {}, n[i] ? bar(hits[i] / n[i], most) : "", make("span", { class: "small" }, rateOf(hits[i], n[i])))))));
  };
  const holds = attributes.has(edge.from), moments = model.outcome ? "cases" : "moments";
  const [yes, no] = holds ? ["with it", "without"] : isEnd(edge.to) ? ["last", "not last"] : ["followed", "not followed"];
  const followed = edge.known.follow_rate === null ? [] : [
    make("h4", {}, holds ? "In how many cases it occurs" : isEnd(edge.to) ? "How often it is the last event" : "How often it follows"),
    edge.known.follow_rule === "product-limit" ? make("p", {}, edge.change) : table(["", yes, no, "all", "Share"], holds ? [["cases with ", name(edge.from)], "other cases"] : [["occurrences of ", name(edge.from)], "all other events"], edge.followed, edge.occurrences)];
  return [...followed, ...(model.outcome ? [] : [make("h4", {}, "How often it is the next event")]),
    table(["", name(edge.to, true), "other", "all", "Share"], [[`${moments} with `, name(edge.from), holds || model.outcome ? "" : ` ${where}`], `other ${moments}`], edge.hits, edge.n)];
}

// The ratio with its interval, on an axis on which twice and half as likely are equally far from 1.
function ratioOf(edge) {
  const words = make("p", { class: "key" }, `${escaped(edge.verdict)}. ${edge.support ? `Behind it: ${edge.support}.` : ""}`, edge.impactWords ? ` Impact: ${edge.impactWords.replace("#x", names[edge.to])}.` : "", edge.beyond ? ` With the event just before held equal: ${edge.beyond}.` : "");
  if (edge.effect === "mixed" || Number.isNaN(edge.ratio) || edge.known.not_comparable || edge.times.startsWith("raw")) return [words];
  const ends = [edge.low, edge.high, edge.ratio].filter((value) => value > 0 && value < Infinity).map((value) => Math.abs(Math.log(value)));
  const reach = Math.max(Math.log(2), ...ends) * 1.1, width = 340;
  const at = (ratio) => width / 2 + (Math.max(-1, Math.min(1, Math.log(ratio) / reach)) * width) / 2.2;
  const drawn = shape("svg", { viewBox: `0 0 ${width} 44`, class: "plot", role: "img", "aria-label": `Rate ratio ${factor(edge.ratio)}, 95% interval ${factor(edge.low)} to ${factor(edge.high)}` });
  const ticks = [0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100].filter((value) => Math.abs(Math.log(value)) <= reach);
  for (const tick of ticks) drawn.append(shape("path", { class: tick === 1 ? "one" : "tick", d: `M${at(tick)},4 V28` }), worded(`×${tick}`, at(tick), 40));
  drawn.append(shape("path", { class: "whisker", d: `M${at(edge.low)},16 H${at(edge.high)}` }), shape("circle", { class: `dot ${classOf(edge)}`, cx: at(edge.ratio), cy: 16, r: 5 }));
  return [make("h4", {}, model.outcome ? "How many times as likely" : "How many times as likely as the next event"), make("div", {}, drawn), words];
}

function worded(text, x, y, anchor = "middle") {
  const node = shape("text", { x, y, "text-anchor": anchor });
  node.textContent = text;
  return node;
}

// How often the target stood k events, or k steps of time, after the influencer, against the same sequences shuffled.
function lagsOf(edge, target) {
  const lags = model.lags?.edges[edge.number];
  if (!lags) return model.lags || model.outcome ? [] : [make("p", { class: "key no-print" }, `With the events (--events) this shows how the share changes from one ${thing} to the next after it.`)];
  const { hits, shuffled, width: step } = lags, seen = lags.n ?? model.lags.n[edge.from], n = hits.length, width = 340, height = 132, left = 40, bottom = 104;
  const stepWords = step ? timeWords(step) : "";
  const share = hits.map((k, i) => k / Math.max(seen[i], 1)), [low, high] = [0, 1].map((end) => hits.map((k, i) => exactInterval(k, seen[i])[end]));
  const most = Math.max(...high.map((value, i) => Math.min(value, 3 * share[i] + shuffled[i])), ...shuffled, 1e-9) * 1.05;
  const x = (i) => left + ((i + 0.5) * (width - left)) / n, y = (p) => bottom - (Math.min(p, most) / most) * (bottom - 8);
  const drawn = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": `Share of ${names[edge.to]} at 1 to ${n} ${step ? `times ${stepWords}` : `${thing}s`} after ${names[edge.from]}: ${share.map(percent).join(", ")}; shuffled: ${shuffled.map(percent).join(", ")}` });
  const [reach, delay] = windowOf(target, edge.from).map((span) => stepsIn(span, step) ?? n);
  if (reach > delay) drawn.append(shape("rect", { class: "window", x: left + (delay * (width - left)) / n, y: 4, width: ((Math.min(reach, n) - delay) * (width - left)) / n, height: bottom - 4 }));
  for (const p of [0, most / 2.1, most / 1.05]) drawn.append(shape("path", { class: "tick", d: `M${left},${y(p)} H${width}` }), worded(percent(p), left - 4, y(p) + 4, "end"));
  drawn.append(shape("path", { class: "shuffled", d: shuffled.map((p, i) => `${i ? "L" : "M"}${x(i).toFixed(1)},${y(p).toFixed(1)}`).join(" ") }));
  share.forEach((p, i) => drawn.append(
    shape("path", { class: "whisker", d: `M${x(i).toFixed(1)},${y(low[i]).toFixed(1)} V${y(high[i]).toFixed(1)}` }),
    shape("circle", { class: `dot ${classOf(edge)}`, cx: x(i).toFixed(1), cy: y(p).toFixed(1), r: 4 }), step ? "" : worded(i + 1, x(i), bottom + 14)));
  for (let i = 0; step && i <= n; i += 2) drawn.append(worded(timeWords(i * step), left + (i * (width - left)) / n, bottom + 14));
  drawn.append(worded(step ? "after it" : `${thing}s after it`, (left + width) / 2, height - 2));
  return [make("h4", {}, "When it comes"), make("div", {}, drawn),
    make("p", { class: "key" }, `Dots: share of `, name(edge.to), step ? ` among all ${thing}s that long after ` : ` that many ${thing}s after `, name(edge.from), ", with 95% intervals; dashed: the same cases shuffled; shaded: where the model looks.")];
}

// A look-back or delay in steps of a profile; nothing where it is measured otherwise, or has no end.
function stepsIn(span, step) {
  const { time, positions } = spanOf(span);
  if (positions === 0) return 0;
  return step ? (time === undefined ? undefined : time / step) : positions;
}
