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
