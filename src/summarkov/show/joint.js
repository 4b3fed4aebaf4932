// A joint model: one softmax over all labels. From a history to every label's probability, and why.
const hasRest = joint.codes.length < labels.length;

// What a history looks like: for each label its lag (0: not in the window) and how often it is in each window; for one,
// two and three labels before, how often each label followed them.
function profileOf(history) {
  const past = history.slice(-joint.windows.at(-1)), seen = past.length, zero = () => new Array(labels.length).fill(0);
  const lag = zero(), often = joint.windows.map(zero);
  past.forEach((code, i) => {
    if (code === UNKNOWN) return;
    lag[code] = seen - i;
    joint.windows.forEach((window, w) => { if (seen - i <= window) often[w][code] += 1; });
  });
  const followed = [1, 2, 3].map((order) => {
    const counts = zero(), context = past.slice(seen - order);
    if (seen < order || context.includes(UNKNOWN)) return counts;
    for (let i = order; i < seen; i++) if (past[i] !== UNKNOWN && context.every((code, j) => past[i - order + j] === code)) counts[past[i]] += 1;
    return counts;
  });
  return { past, seen, lag, often, followed };
}

// Numbers of labels as those of outcomes: the targets, then all other labels together.
const outcomesOf = (each) => { const own = joint.codes.map((code) => each[code]); return hasRest ? [...own, sumOf(each) - sumOf(own)] : own; };
const shareOf = (n, size, usual) => Math.log((n + joint.cuts.base * usual) / ((size + joint.cuts.base) * usual));

// The habits of this sequence: for each outcome its share so far, and how much larger it is after the last labels.
function habitsOf({ seen, often, followed }) {
  const usual = outcomesOf(joint.rates);
  let share = outcomesOf(often.at(-1)).map((n, x) => (n + joint.cuts.base * usual[x]) / (seen + joint.cuts.base));
  const habits = [share.map((p, x) => Math.log(p / usual[x]))];
  for (const each of followed) {
    const counts = outcomesOf(each), n = sumOf(counts), shorter = share;
    share = counts.map((count, x) => (count + joint.cuts.context * shorter[x]) / (n + joint.cuts.context));
    habits.push(share.map((p, x) => Math.log(p / shorter[x])));
  }
  return habits;
}

function featuresOf(code, { past, seen, lag, often }) {
  const { within, places } = joint.cuts, near = joint.windows.at(-2);
  return [...within.map((k) => Number(lag[code] <= k)), 1, ...places.map((place) => Number(past[seen - place] === code)),
    shareOf(often.at(-2)[code], Math.min(seen, near), joint.rates[code]), shareOf(often.at(-1)[code], seen, joint.rates[code])];
}

const dot = (a, b) => sumOf(a.map((value, i) => value * b[i]));
const below = (cuts, value) => cuts.filter((cut) => cut <= value).length;

// What trees look at, in the order of their features.
function levelsOf(profile, habits) {
  const { lags, counts, habits: cuts } = joint.cuts;
  return [...profile.lag.map((lag) => (lag ? below(lags, lag) : lags.length + 1)), ...profile.often.flatMap((each) => each.map((n) => below(counts, n))),
    below(counts, profile.seen), ...habits.flatMap((each) => each.map((value) => cuts.filter((cut) => cut < value).length))];
}

function treeSum(trees, levels, outcome, nOutcomes) {
  let sum = 0;
  for (let t = outcome; t < trees.length; t += nOutcomes) {
    const [splits, values] = trees[t];
    let leaf = 0;
    for (let k = 0; k < splits.length; k += 3) if (splits[k] === leaf && levels[splits[k + 1]] > splits[k + 2]) leaf = k / 3 + 1;
    sum += values[leaf];
  }
  return sum;
}

// What followed the last labels in all sequences: each context gives every outcome its own part, and leaves the rest to the shorter one.
function afterLast(past, nOutcomes) {
  const codes = joint.contexts.levels.slice(1).map((_, i) => { const code = past[past.length - 1 - i]; return code === undefined ? 0 : code === UNKNOWN ? -1 : code + 1; });
  return joint.contexts.levels.reduce((shorter, level, length) => {
    const found = level[codes.slice(0, length).join(",")];
    return found ? shorter.map((p, x) => found[0][x] + found[1] * p) : shorter;
  }, new Array(nOutcomes).fill(1 / nOutcomes));
}

// Every target with its probability and the factors that it is a product of.
function jointly(history) {
  const profile = profileOf(history), habits = habitsOf(profile), usual = outcomesOf(joint.rates), nOutcomes = usual.length;
  const { share } = joint.contexts, after = share ? afterLast(profile.past, nOutcomes) : usual;
  const boosted = joint.trees[0].length > 0, half = (1 - share) * (boosted ? 0.5 : 1), levels = boosted ? levelsOf(profile, habits) : [];
  const place = joint.cuts.starts.map((start) => Number(profile.seen < start));
  const parts = usual.map((p, x) => {
    const shares = Object.entries(joint.influencers[x]).map(([code, weights]) => [Number(code), weights]).filter(([code]) => profile.lag[code])
      .map(([code, weights]) => ({ code, lag: profile.lag[code], log: half * dot(featuresOf(code, profile), weights) }));
    const own = half * dot(habits.map((each) => each[x]), joint.own[x]), start = half * (dot(place, joint.place[x]) + joint.level[x] - Math.log(p));
    const trees = boosted ? half * sumOf(joint.trees.map((each) => treeSum(each, levels, x, nOutcomes))) : 0;
    const last = share * Math.log(after[x] / p);
    return { shares, own, start, trees, last, logit: Math.log(p) + sumOf(shares.map(({ log }) => log)) + own + start + trees + last };
  });
  const there = Math.log(sumOf(parts.map(({ start }, x) => usual[x] * Math.exp(start))));  // so that places alone sum to 1
  for (const part of parts) part.start -= there;
  const top = Math.max(...parts.map(({ logit }) => logit)), total = sumOf(parts.map(({ logit }) => Math.exp(logit - top)));
  return joint.codes.map((code, x) => {
    const { shares, own, start, trees, last, logit } = parts[x], p = Math.exp(logit - top) / total;
    const told = sumOf(shares.map(({ log }) => log)) + own + start + trees + last;
    const why = { shares: shares.sort((a, b) => Math.abs(b.log) - Math.abs(a.log)), rest: [["habits of this sequence", own], ["place in it", start], ["trees", trees], ["what followed the last two labels elsewhere", last], ["so that all labels sum to 1", Math.log(p / usual[x]) - told]] };
    return { code, target: modelOf[code].target, outcome: 0, own: p, p, hits: 0, support: 0, why };
  });
}

// The factors in words, those that change next to nothing left out.
function whyWords({ why }) {
  const said = [...why.shares.map(({ code, lag, log }) => [name(code), ` ${plural(lag, "event")} ago ${factor(Math.exp(log))}`]), ...why.rest.filter(([, log]) => Math.abs(log) > 0.05).map(([what, log]) => [`${what} ${factor(Math.exp(log))}`])];
  return said.length ? joined(said, ", ").flat() : ["no more is known"];
}

// What each influencer of a label does, by how long ago it occurred.
function recencyTable(code) {
  const x = joint.codes.indexOf(code), { u } = modelOf[code].target, { within } = joint.cuts;
  if (!u.length) return make("p", { class: "quiet" }, "It depends on the habits of the sequence and the place in it alone.");
  const order = u.map((_, i) => i).sort((a, b) => joint.gains[x][b] - joint.gains[x][a]);
  const heads = [...within.map(String), `${within.at(-1) + 1}+`];
  const tone = (value) => (value > 1.05 ? "up" : value < 0.95 ? "down" : "quiet");
  return make("div", { class: "scrolls" }, make("table", { class: "recency" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Events ago"), ...heads.map((says) => make("th", { scope: "col", class: "number" }, says)), make("th", { scope: "col", class: "number" }, "Gain"))),
    make("tbody", {}, ...order.map((i) => make("tr", {}, make("th", { scope: "row" }, name(u[i])), ...joint.recency[x][i].map((value) => make("td", { class: `number ${tone(value)}` }, factor(value))), make("td", { class: "number" }, number(Math.round(joint.gains[x][i]))))))),
  make("p", { class: "key" }, "Times its odds against any other label, if the influencer occurred once, that many events ago, in a past of at least 20 events, all else equal. Gain: what the log-likelihood loses without it. ", joint.trees[0].length || joint.contexts.share ? "Both by the weights alone." : ""));
}
