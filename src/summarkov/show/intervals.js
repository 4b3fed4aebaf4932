// Exact intervals of probabilities (Clopper and Pearson), from counts.

// The logarithm of the gamma function (Lanczos).
const lanczos = [676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
function logGamma(z) {
  const sum = lanczos.reduce((total, c, i) => total + c / (z + i), 0.99999999999980993), t = z + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (z - 0.5) * Math.log(t) - t + Math.log(sum);
}

// The probability that a beta variable is at most x: by a continued fraction, on the side where that is short.
function betaShare(x, a, b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const tiny = 1e-300, away = (value) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1, d = 1 / away(1 - ((a + b) * x) / (a + 1)), fraction = d;
  for (let m = 1; m < 5000; m++) {
    for (const term of [(m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)), (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / away(1 + term * d);
      c = away(1 + term / c);
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-13) break;
  }
  return (Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)) * fraction) / a;
}

function betaQuantile(share, a, b) {
  let [low, high] = [0, 1];
  while (high - low > 1e-7 * high) {
    const middle = (low + high) / 2;
    if (betaShare(middle, a, b) < share) low = middle; else high = middle;
  }
  return high;
}

// The 95% interval of a probability from hits among n; where there is but one label, nothing else can come. An
// estimate that a prior drew out of it makes it wider: it is always inside.
function exactInterval(hits, n, estimate = n > 0 ? hits / n : 0) {
  if (labels.length === 1) return [1, 1];
  const ends = [hits > 0 ? betaQuantile(0.025, hits, n - hits + 1) : 0, n > hits ? betaQuantile(0.975, hits + 1, n - hits) : 1];
  return [Math.min(ends[0], estimate), Math.max(ends[1], estimate)];
}
