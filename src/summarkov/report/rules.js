// A tree with its rules: at each branching the question, its answers below it, and what follows at the leaves.
function treeOf(target, outcome, usual) {
  const { tests, asks, no, at, estimates, asked } = target.summary, n = target.x.length;
  const rows = target.n.map((seen, row) => row * n + outcome);
  const most = Math.max(usual, ...rows.map((i) => target.p[i]), 1e-9);
  let leaf = 0, split = 0;
  function branch(node, answer) {
    const test = tests[node];
    const head = answer === null ? "" : make("span", { class: "answer" }, answer ? "yes" : "no");
    if (!test) {
      const row = leaf++, i = row * n + outcome, [low, high] = exactInterval(target.hits[i], target.n[row]);
      return make("li", { class: "leaf" }, head, bar(target.p[i], most, { low, high, usual }),
        make("span", {}, percent(target.p[i]), make("span", { class: "quiet" }, ` seen ${number(target.n[row])} times`), seldom(target.n[row], target)));
    }
    const gain = target.trace[split++]?.[3], worth = asked ? `; asked: ${percent(asked[node])}` : gain === undefined ? "" : `; gain ${gain.toFixed(1)}`;
    const here = make("span", { class: "quiet" }, ` ${percent(estimates[node * n + outcome])} of ${number(at[node])}${worth}`);
    const yes = branch(node + 1, true);
    return make("li", {}, head, told(asks[node]), "?", here, make("ul", {}, yes, branch(no[node], false)));
  }
  return make("ul", { class: "tree" }, branch(0, null));
}
