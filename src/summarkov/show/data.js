// The data, the settings, and how to cite.
const citation = "Bhattacharjya, Sihag, Hassanzadeh, Bialik: “Summary Markov Models for Event Sequences”, IJCAI 2022.";
const settingNames = { lookback: "look-back", max_influencers: "most influencers", max_order: "longest context" };

function settingWords(value) {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length ? value.map((each) => (typeof each === "string" ? visible(each) : settingWords(each))).join(", ") : "none";
  if (typeof value === "object") return Object.entries(value).map(([label, each]) => `${visible(label)}: ${settingWords(each)}`).join(", ");
  return typeof value === "boolean" ? (value ? "yes" : "no") : typeof value === "string" ? visible(value) : String(value);
}

const familyWords = model.outcome ? `OutcomeModel of ${model.family}` : model.graph && !joint ? `InfluenceGraph of ${model.family}` : model.family;

const facts = (pairs) => make("dl", { class: "facts" }, ...pairs.flatMap(([what, value]) => [make("dt", {}, what), make("dd", {}, value)]));

function lengthsOf(lengths) {
  if (!lengths) return [make("p", { class: "quiet small" }, "How long the sequences are is not part of a model; give the events too (--events) to see it here.")];
  if (lengths.shortest === lengths.longest) return [make("p", {}, `${plural(lengths.longest, "event")} in each of ${plural(lengths.sequences, "sequence")}.`)];
  const top = Math.max(...lengths.bins, 1);
  const bars = make("div", { class: "lengths", role: "img", "aria-label": `Lengths from ${lengths.shortest} to ${lengths.longest}, median ${lengths.median}` });
  lengths.bins.forEach((n, i) => {
    const from = lengths.shortest + i * lengths.width, to = from + lengths.width - 1;
    const column = make("div", { title: `${from === to ? plural(from, "event") : `${number(from)} to ${number(to)} events`}: ${plural(n, "sequence")}` });
    column.style.height = `${(100 * n) / top}%`;
    bars.append(column);
  });
  return [make("p", {}, `${number(lengths.shortest)} to ${number(lengths.longest)} events per sequence, median ${number(lengths.median)} (${plural(lengths.sequences, "sequence")}).`), bars,
    make("p", { class: "key ends" }, make("span", {}, number(lengths.shortest)), make("span", {}, number(lengths.longest)))];
}

function buildData() {
  const settings = Object.entries(model.settings).map(([what, value]) => [settingNames[what] ?? what.replaceAll("_", " "), settingWords(value)]);
  document.getElementById("panel-data").append(
    make("h2", {}, "The data"),
    facts([["Sequences", number(model.sequences)], ["Events", number(nEvents)], ...(model.together ? [["Ticks, in which events happen together", number(model.positions)]] : []), ["Labels", number(everyone.filter(isEvent).length)], ...(attributes.size ? [["Attributes", number(attributes.size)]] : []), ...(quoted ? [["Sentences", `${number(quoted.sentences.length)} from ${plural(new Set(quoted.sentences.map(([document]) => document)).size, "document")} are part of this page`]] : [])]),
    make("h3", {}, "Sequence lengths"), ...lengthsOf(model.lengths),
    make("div", { class: "no-print" }, make("h3", {}, "How often each label occurs"), labelList()),
    make("h3", {}, "The settings that made the model"),
    facts([["model", familyWords], ...settings, ["made by", `summarkov ${model.version}`]]),
    make("h3", {}, "How to cite"),
    make("p", {}, "The method is that of"), make("blockquote", {}, citation),
    make("h3", {}, "What it does not say"),
    make("p", {}, "Influence here is statistical, not proof of cause: an influencer helps to predict a label in this data set, beside the others in the model. Something that was not recorded may stand behind both, and other data may show other influences."));
}
