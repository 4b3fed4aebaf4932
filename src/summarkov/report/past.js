// A history as somebody tells it: events one after the other, some together with the one before them, with the time that
// passed in between; what holds of the whole sequence; and how long after the last event one asks.
const attributeColumns = new Map();  // of attributes: what each is about, with its values
for (const code of model.attributes) {
  const [column] = labels[code].split("=");
  attributeColumns.set(column, [...(attributeColumns.get(column) ?? []), code]);
}
// Where each sequence has a value it is the most frequent one at first; otherwise none.
const isAlwaysThere = (codes) => sumOf(codes.map((code) => model.n[code])) >= model.sequences;
const usualValues = () => [...attributeColumns.values()].filter(isAlwaysThere).map((codes) => codes.reduce((a, b) => (model.n[b] > model.n[a] ? b : a)));
const columnOf = (code) => [...attributeColumns.values()].find((codes) => codes.includes(code));

function historyOf({ events, given, wait }) {
  const moments = [];
  let time = 0;
  for (const { code, joined, gap } of events) {
    if (joined && moments.length) { moments.at(-1).codes = [...new Set([...moments.at(-1).codes, code])]; continue; }
    time += gap;
    moments.push({ codes: [code], time });
  }
  return new History(moments, given, time + wait);
}

// Times in words and in units to type them in: a step is a number of millionths of a second, or of one.
const timeUnits = clock?.isClock ? [["s", "seconds", 1e6], ["min", "minutes", 60e6], ["h", "hours", 3600e6], ["d", "days", 86400e6]] : [["", "time", 1e6]];
const unitFor = (steps) => timeUnits.findLast(([, , size]) => size <= steps * clock.step * 1.0001) ?? timeUnits[0];
const usualUnit = clock ? unitFor(Math.max(...Object.values(clock.spans))) : null;
const inUnit = (steps, [, , size]) => Number(((steps * clock.step) / size).toPrecision(6));
const fromUnit = (value, [, , size]) => (value * size) / clock.step;
function timeWords(steps) {
  if (!steps) return "0";
  const unit = unitFor(steps);
  return `${Number(inUnit(steps, unit).toPrecision(3))} ${unit[0]}`.trim();
}
