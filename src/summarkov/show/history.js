// A history: what holds of the whole sequence, and moments, oldest first, each with the labels that happened then. Most
// models look at events in a row: one label per moment, and no times.
const clock = model.clock;  // whether times are times of day, and look-backs; all times are in millionths of a second, or of the unit of their column
const spanOf = (span) => (typeof span === "string" ? { time: clock.spans[span] } : { positions: span });

class History {
  // Times are from any beginning; "now" is when one asks, by default when the last one happened.
  constructor(moments, given = [], now = moments.at(-1)?.time ?? 0) {
    Object.assign(this, { moments, given: new Set(given), now });
    this.rows = moments.flatMap(({ codes, time = 0 }, at) => [...codes].sort((a, b) => a - b).map((code) => ({ code, at, time })));
  }
  get codes() { return this.rows.map(({ code }) => code); }
  // The same before one of its moments, asked when that came.
  before(at) { return new History(this.moments.slice(0, at), this.given, this.moments[at].time); }
  // The same had one label not occurred at some rows, or not held; or had it occurred now, or held.
  without(code, rows) {
    const isOut = new Set(rows.map((row) => this.rows[row].at));
    const moments = this.moments.map(({ codes, time }, at) => ({ codes: isOut.has(at) ? codes.map((each) => (each === code ? UNKNOWN : each)) : codes, time }));
    return new History(moments, [...this.given].filter((each) => each !== code), this.now);
  }
  and(code) {
    return attributes.has(code) ? new History(this.moments, [...[...this.given].filter((each) => columnOf(each) !== columnOf(code)), code], this.now) : new History([...this.moments, { codes: [code], time: this.now }], this.given, this.now);
  }
  // The rows at which a label stood in its window, the last one first: more than the delay ago and at most the reach.
  found(label, reach, delay) {
    const [far, near] = [spanOf(reach), spanOf(delay)], found = [];
    for (let row = this.rows.length - 1; row >= 0; row--) {
      const { code, at, time } = this.rows[row], ago = this.now - time, back = this.moments.length - at;
      if (far.time !== undefined ? ago > far.time : reach !== null && back > far.positions) break;
      if (code === label && (near.time !== undefined ? ago > near.time : back > near.positions)) found.push(row);
    }
    return found;
  }
  // Where a label last was: an attribute before all events, -1 for what is not there.
  last(label) {
    if (attributes.has(label)) return this.given.has(label) ? (label + 1) / (labels.length + 1) - 1 : -1;
    return this.rows.findLastIndex(({ code }) => code === label);
  }
}

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

// Times in words and in units to type them in.
const timeUnits = clock?.isClock ? [["s", "seconds", 1e6], ["min", "minutes", 60e6], ["h", "hours", 3600e6], ["d", "days", 86400e6]] : [["", "time", 1e6]];
const unitFor = (steps) => timeUnits.findLast(([, , size]) => size <= steps * 1.0001) ?? timeUnits[0];
const usualUnit = clock ? unitFor(Math.max(...Object.values(clock.spans))) : null;
const inUnit = (steps, [, , size]) => Number((steps / size).toPrecision(6));
const fromUnit = (value, [, , size]) => value * size;
function timeWords(steps) {
  if (!steps) return "0";
  const unit = unitFor(steps);
  return `${Number(inUnit(steps, unit).toPrecision(3))} ${unit[0]}`.trim();
}
