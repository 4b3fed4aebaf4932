// One filter for the graph, the matrix and the table that is saved; a chosen label has all of its influences.
const filter = { least: 0, sure: 0, show: "all" };
const kinds = {
  all: { says: "all edges", of: () => true },
  found: { says: "findings alone", of: (edge) => !edge.aside && edge.from !== edge.to },
  amplifies: { says: "amplifying", of: (edge) => edge.effect === "amplifies" },
  inhibits: { says: "inhibiting", of: (edge) => edge.effect === "inhibits" },
  order: { says: "depend on order", of: (edge) => edge.order === "depends on order" },
  clear: { says: "without grey ones", of: (edge) => !edge.faint },
  others: { says: "between two event types", of: (edge) => edge.from !== edge.to },
};
const isThrough = (edge) => edge.evidence >= filter.least - 1e-9 && (edge.confidence === undefined || edge.confidence >= filter.sure - 1e-9) && kinds[filter.show].of(edge);
const touches = (edge) => state.chosen !== null && (state.chosen === edge.from || state.chosen === edge.to);
const passes = (edge) => isThrough(edge) || touches(edge);
// More edges than can be followed by eye: the page starts with what was found, and a matrix of what is more than sparse.
const mostFollowed = 30;
const startShow = model.findings?.edges.edge.length && edges.length > mostFollowed ? "found" : "all";

const largest = edges.reduce((most, edge) => Math.max(most, edge.evidence), 0);
const strengthSlider = document.getElementById("strength"), confidenceSlider = document.getElementById("confidence"), kindSelect = document.getElementById("kind");

// The controls show what the filter is.
function showFilter() {
  const words = filter.least > 0 ? `${factor(Math.exp(filter.least))} or more` : "any";
  strengthSlider.value = largest ? Math.ceil((1000 * filter.least) / largest - 1e-6) : 0;
  document.getElementById("strength-value").textContent = words;
  strengthSlider.setAttribute("aria-valuetext", words);
  confidenceSlider.value = Math.round(100 * filter.sure);
  document.getElementById("confidence-value").textContent = `${confidenceSlider.value}% or more`;
  kindSelect.value = filter.show;
}

function startFilter(changed) {
  Object.assign(filter, { least: model.start, show: startShow });
  document.getElementById("by-confidence").hidden = !edges.some((edge) => edge.confidence !== undefined);
  document.getElementById("by-strength").hidden = document.getElementById("by-kind").hidden = edges.length < 2;
  kindSelect.append(...Object.entries(kinds).filter(([, kind]) => edges.some(kind.of)).map(([value, { says }]) => make("option", { value }, says)));
  strengthSlider.addEventListener("input", () => { filter.least = (largest * strengthSlider.value) / 1000; changed(); });
  confidenceSlider.addEventListener("input", () => { filter.sure = confidenceSlider.value / 100; changed(); });
  kindSelect.addEventListener("change", () => { filter.show = kindSelect.value; changed(); });
}
