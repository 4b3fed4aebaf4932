// Everything together: tabs, theme, search, sliders.
const tabs = ["label", "whatif", "data"];
const strengthSlider = document.getElementById("strength"), confidenceSlider = document.getElementById("confidence");

function showTab(which, focus = false) {
  for (const each of tabs) {
    const tab = document.getElementById(`tab-${each}`), on = each === which;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    document.getElementById(`panel-${each}`).hidden = !on;
    if (on && focus) tab.focus();
  }
  picture.classList.toggle("adding", which === "whatif" && computable);
  refresh();
}

// Choose a label everywhere; null for none. With an edge to it, show the passages of that one.
function open(code, edge) {
  hideTip();
  focusOn(code);
  showLabel(code, edge);
  showTab("label");
  document.getElementById("panel").scrollTop = 0;
}

// Back to the whole graph, in whatever panel one is.
function leave() {
  if (state.chosen === null) return;
  hideTip();
  focusOn(null);
  showLabel(null);
}

function clicked(code, edge) {
  if (edge && quoted && !adding()) openPassages(edge);
  else if (code === null) leave();
  else if (adding()) addToHistory(code);
  else open(code);
}

const largest = edges.reduce((most, edge) => Math.max(most, edge.evidence), 0);
function readSliders() {
  state.least = (largest * strengthSlider.value) / 1000;
  state.sure = confidenceSlider.value / 100;
  const words = state.least > 0 ? `${factor(Math.exp(state.least))} or more` : "any";
  document.getElementById("strength-value").textContent = words;
  strengthSlider.setAttribute("aria-valuetext", words);
  document.getElementById("confidence-value").textContent = `${confidenceSlider.value}% or more`;
  refresh();
}

// A large graph starts with its surest edges, by which it was laid out.
function startSliders() {
  strengthSlider.value = largest ? Math.ceil((1000 * model.start) / largest) : 0;
  document.getElementById("by-confidence").hidden = !edges.some((edge) => edge.confidence !== undefined);
  document.getElementById("by-strength").hidden = edges.length < 2;
  for (const slider of [strengthSlider, confidenceSlider]) slider.addEventListener("input", readSliders);
}

function theme(which) {
  document.documentElement.dataset.theme = which;
  document.getElementById("theme").textContent = which === "dark" ? "Light" : "Dark";
}

function start() {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  theme(scheme.matches ? "dark" : "light");
  scheme.addEventListener("change", () => theme(scheme.matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  const kind = model.graph ? plural(edges.length, "influence") + " among " : "";
  document.getElementById("summary").textContent = `${kind}${plural(labels.length, "label")}, learned from ${plural(model.sequences, "sequence")} with ${plural(nEvents, "event")} by ${model.family}`;
  explainLines();
  startSliders();
  arrange();  // before there is much on the page, so that measuring it is quick
  build();
  settle();
  readSliders();
  gestures(clicked);
  picker(document.getElementById("search"), (code) => { open(code); drawnNodes[code].focus({ preventScroll: true }); hideTip(); });
  showLabel(null);
  setTimeout(() => { buildWhatIf(); buildData(); });  // after the first picture
  tabs.forEach((each, i) => {
    const tab = document.getElementById(`tab-${each}`);
    tab.addEventListener("click", () => showTab(each));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { event.preventDefault(); showTab(tabs[(i + step + tabs.length) % tabs.length], true); }
    });
  });
  document.getElementById("leave").addEventListener("click", () => { leave(); picture.focus({ preventScroll: true }); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") leave(); });
  for (const [id, action] of [["zoom-in", () => zoom(1.25)], ["zoom-out", () => zoom(0.8)], ["zoom-fit", settle]]) {
    document.getElementById(id).addEventListener("click", () => { action(); draw(); });
  }
  addEventListener("resize", () => {
    const { width, height } = screen;
    measure();
    if (screen.width === width && screen.height === height) return;  // a phone's bars come and go
    if (screen.width !== width) arrange();
    settle();
    draw();
  });
  // paper has another size than the screen: the picture is scaled as it is
  addEventListener("beforeprint", () => picture.setAttribute("viewBox", `0 0 ${screen.width} ${screen.height}`));
  addEventListener("afterprint", () => picture.removeAttribute("viewBox"));
}
start();

// For the console and for tests: the same numbers, for a history of labels, oldest first.
function codesOf(events) {
  const codes = events.map((label) => labels.indexOf(label));
  if (codes.includes(-1)) throw new RangeError("the history holds a label that the model does not know");
  return codes;
}
const plainly = ({ code, own, p, low, high, support, occurred, target, key, row }) =>
  ({ label: labels[code], own, p, low, high, support, occurred, words: make("p", {}, ...stateWords(target, key, row)).textContent });
window.summarkov = {
  predict: (events) => predict(codesOf(events)).map(plainly),
  otherwise: (events, label) => otherwise(codesOf(events), modelOf[labels.indexOf(label)]).map(plainly),
};
