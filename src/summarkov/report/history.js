// A history: what holds of the whole sequence, and moments, oldest first, each with the labels that happened then. Most
// models look at events in a row: one label per moment, and no times.
const clock = model.clock;  // whether times are times of day, how long a step is, and look-backs in steps
const spanOf = (span) => (typeof span === "string" ? { time: clock.spans[span] } : { positions: span });

class History {
  // Times are in steps of the clock, from any beginning; "now" is when one asks, by default when the last one happened.
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
