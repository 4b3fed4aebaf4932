// The native kernels as Python sees them: the same names and results as numpy_kernels.py.
#include <pybind11/stl.h>

#include <numeric>

#include "arrays.hpp"
#include "boosted.hpp"
#include "clusters.hpp"
#include "count.hpp"
#include "followed.hpp"
#include "order.hpp"
#include "resampling.hpp"
#include "tests.hpp"

namespace py = pybind11;
using namespace summarkov;

namespace {

// Do what needs nothing of Python while other threads use it.
template <class Work>
auto without_python(Work work) {
    py::gil_scoped_release release;
    return work();
}

py::array_t<std::int32_t> last_within_(const Array<std::int64_t>& clock, const Array<std::int64_t>& offsets,
                                       std::int64_t size) {
    py::array_t<std::int32_t> found(clock.size());
    std::int32_t* to = found.mutable_data();
    const auto ticks = span(clock), cuts = span(offsets);
    without_python([&] { last_within(ticks, cuts, size, to); });
    return found;
}

py::tuple count(const PyIndex& shard, const MaybeWeights& weights, const Array<std::int32_t>& influencers,
                std::int64_t given, const Array<std::int32_t>& candidates, const Array<std::int32_t>& outcome_of, std::int64_t n_outcomes,
                int kind, const Array<std::int64_t>& lookback, std::int64_t delay, std::int64_t cap,
                const PyReach* reach, const Array<std::int64_t>& totals, std::int64_t most_cells) {
    const Window window = window_of(kind, lookback, delay, cap);
    const Weights each = weights_of(weights);
    const Outcomes outcomes{span(outcome_of), n_outcomes};
    const std::vector<Count> whole(totals.data(), totals.data() + totals.size());
    const auto chosen = span(influencers), joining = span(candidates);
    const Counted counted = without_python([&] {
        return with_rows(shard, window, reach, [&](const auto& rows) {
            return Counter(rows, each, chosen, given, joining, outcomes, most_cells).run(whole);
        });
    });
    std::vector<std::int64_t> row;
    auto keys = ordered_keys(counted, row);
    const std::int64_t n_states = counted.states.size(), kept = keys.shape(0), deep = window.levels(chosen.size) - 1;
    py::array_t<Count> counts({kept, n_outcomes}), present({joining.size, kept, deep, n_outcomes});
    Count *to = counts.mutable_data(), *into = present.mutable_data();
    without_python([&] {
        const Count* from = counted.counts.data();
        const Count* cell = counted.present.data();
        for (std::int64_t x = 0; x < n_outcomes; ++x) {
            for (std::int64_t s = 0; s < n_states; ++s, ++from)
                if (row[s] >= 0) to[row[s] * n_outcomes + x] = *from;
            for (std::int64_t c = 0; c < joining.size; ++c)
                for (std::int64_t s = 0; s < n_states; ++s, cell += deep)
                    if (row[s] >= 0)
                        for (std::int64_t l = 0; l < deep; ++l)
                            into[((c * kept + row[s]) * deep + l) * n_outcomes + x] = cell[l];
        }
    });
    return py::make_tuple(keys, counts, present);
}

py::tuple states(const PyIndex& shard, const Array<std::int32_t>& influencers, int kind,
                 const Array<std::int64_t>& lookback, std::int64_t delay, std::int64_t cap, const PyReach* reach) {
    const Window window = window_of(kind, lookback, delay, cap);
    const auto chosen = span(influencers);
    Counted counted;
    without_python([&] {
        with_rows(shard, window, reach, [&](const auto& rows) {
            counted.states = follow_states(rows, chosen);
            counted.positions = positions_of(rows, counted.states);
        });
    });
    std::vector<std::int64_t> row;
    auto keys = ordered_keys(counted, row);
    py::array_t<std::int64_t> ids(shard.index.codes.size);
    std::int64_t* to = ids.mutable_data();
    std::fill_n(to, shard.index.codes.size, row[0]);
    for (const auto& run : counted.states.runs) std::fill(to + run.begin, to + run.end, row[run.state]);
    return py::make_tuple(ids, keys);
}

py::array_t<Count> totals(const PyIndex& shard, const MaybeWeights& weights, int kind,
                          const Array<std::int64_t>& lookback, std::int64_t delay, std::int64_t cap,
                          const PyReach* reach) {
    const Window window = window_of(kind, lookback, delay, cap);
    const Weights each = weights_of(weights);
    const std::vector<Count> found = without_python([&] {
        return with_rows(shard, window, reach, [&](const auto& rows) { return count_totals(rows, each); });
    });
    return py::array_t<Count>(static_cast<py::ssize_t>(found.size()), found.data());
}

using Numbers = Array<std::int64_t>;

TestTree tree_of(const Numbers& tree) {
    static_assert(sizeof(TestTree::Node) == 7 * sizeof(std::int64_t));
    return {reinterpret_cast<const TestTree::Node*>(tree.data())};
}

// What trees measure distances by, as Python gives it: see PlacedClock.
struct PyClock {
    Array<std::int64_t> clock, ticks;
    Array<std::int32_t> before;
    Array<bool> attributes;

    PlacedClock get() const {
        return {clock.data(), ticks.data(), before.data(), attributes.data()};
    }
};

// Call `use` with what distances are measured by: positions, unless there is a clock.
template <class Use>
void with_clock(const PyClock* clock, Use use) {
    if (clock) use(clock->get());
    else use(PlainClock{});
}

py::tuple tests(const PyIndex& shard, const PyClock* clock, const MaybeWeights& weights, const Numbers& tree, const Numbers& slots,
                const Array<std::int32_t>& labels, const Numbers& lookbacks, std::int64_t depth, const Numbers& starts,
                bool order, const Array<std::int32_t>& outcome_of, std::int64_t n_outcomes,
                const std::vector<std::vector<std::int64_t>>& shapes) {
    std::vector<py::array_t<Count>> tables;
    for (const auto& shape : shapes) {
        tables.emplace_back(shape);
        std::fill_n(tables.back().mutable_data(), tables.back().size(), 0);
    }
    const TestTables into{tables[0].mutable_data(), tables[1].mutable_data(), tables[2].mutable_data(),
                          tables[3].mutable_data()};
    const Recency recency{span(labels), span(lookbacks), depth, span(starts), order};
    const Outcomes outcomes{span(outcome_of), n_outcomes};
    without_python([&] {
        with_clock(clock, [&](const auto& by) {
            count_tests(shard.index, by, weights_of(weights), tree_of(tree), span(slots), recency, outcomes, into);
        });
    });
    return py::make_tuple(tables[0], tables[1], tables[2], tables[3]);
}

py::array_t<std::int64_t> leaves(const PyIndex& shard, const PyClock* clock, const Numbers& tree,
                                 std::int64_t depth) {
    py::array_t<std::int64_t> found(shard.index.codes.size);
    std::int64_t* to = found.mutable_data();
    without_python([&] {
        const TestTree nodes = tree_of(tree);
        with_clock(clock, [&](const auto& by) {
            Walk walk(shard.index, by, depth);
            walk.run([&](std::int64_t, Position i) { to[i] = walk.leaf(nodes, i); });
        });
    });
    return found;
}

py::array_t<Count> add_rows_(const Array<std::int64_t>& cells, const Array<std::int64_t>& rows,
                             const Array<std::int64_t>& weights, std::int64_t n_cells) {
    const std::int64_t width = weights.shape(1);
    py::array_t<Count> sums({n_cells, width});
    const auto into = span(cells), from = span(rows);
    const Count* given = weights.data();
    Count* to = sums.mutable_data();
    without_python([&] {
        std::fill_n(to, n_cells * width, 0);
        add_rows(into, from, given, width, to);
    });
    return sums;
}

// A row of `pairs` is z, x, delay and look-back, when a window is over, and which of `spans` delay and look-back are
// in time, or -1.
py::tuple followed(const PyIndex& shard, const MaybeWeights& weights, const Array<std::int64_t>& pairs,
                   const std::optional<Array<std::int32_t>>& of, const Array<std::int64_t>& bounds,
                   const Array<bool>& complete, const std::optional<Array<std::int64_t>>& times,
                   const std::optional<Array<bool>>& attributes, const Array<std::int64_t>& spans) {
    const std::int64_t n = pairs.shape(0);
    py::array_t<Count> sums({n, std::int64_t{8}});
    const std::int64_t* pair = pairs.data();
    Count* to = sums.mutable_data();
    const Weights each = weights_of(weights);
    WholeSequences whole{shard.index, of ? of->data() : nullptr, span(bounds), span(complete),
                         times ? span(*times) : Span<std::int64_t>{}, attributes ? attributes->data() : nullptr, {}};
    std::vector<std::int64_t> lags;  // pair, kind, bin, number
    without_python([&] {
        whole.number();
        std::vector<std::vector<std::int32_t>> within(spans.size());
        for (std::int64_t i = 0; i < spans.size(); ++i) {
            within[i].resize(whole.times.size);
            last_within(whole.times, whole.bounds, spans.data()[i], within[i].data());
        }
        auto place = [&](std::int64_t which) { return which < 0 ? nullptr : within[which].data(); };
        FollowCounts found;
        FollowCounter counter(whole, each);
        for (std::int64_t i = 0; i < n; ++i, pair += 7) {
            counter.count(pair[0], pair[1], {pair[2], pair[3], place(pair[5]), place(pair[6]), pair[4]}, found);
            to = std::copy(found.sums.begin(), found.sums.end(), to);
            std::int64_t kind = 0;
            for (const auto* counts : {&found.hits, &found.censored}) {
                for (std::size_t bin = 0; bin < counts->size(); ++bin)
                    if ((*counts)[bin]) lags.insert(lags.end(), {i, kind, static_cast<std::int64_t>(bin), (*counts)[bin]});
                ++kind;
            }
        }
    });
    py::array_t<std::int64_t> rows({static_cast<std::int64_t>(lags.size() / 4), std::int64_t{4}});
    std::copy(lags.begin(), lags.end(), rows.mutable_data());
    return py::make_tuple(sums, rows);
}

// Scan for what targets follow, into `sink`. `last` are the last rows of the look-backs, `first` and `before` as in
// Reach: nothing where every row is a position.
struct PyPresence {
    Array<std::int32_t> codes;
    Array<std::int64_t> offsets;
    std::int64_t n_labels;
    MaybeWeights weights;
    Array<std::int32_t> influencers;
    Array<std::int64_t> lookbacks;
    std::vector<std::size_t> reach_of;
    Array<std::int64_t> starts;
    Array<std::int32_t> labels;
    Array<std::int64_t> labels_starts;
    std::int64_t delay;
    Array<std::int32_t> first, before;
    std::vector<Array<std::int32_t>> last;
    Array<bool> attributes;

    PresenceAsked asked() const {
        return {span(influencers), reach_of, static_cast<std::size_t>(lookbacks.size()), span(starts), span(labels),
                span(labels_starts)};
    }

    template <class Sink>
    void scan(Sink& sink) const {
        const PresenceEvents events{span(codes), span(offsets), n_labels, weights_of(weights).of};
        const PresenceAsked wanted = asked();
        auto run = [&](const auto& reaches) {
            PresenceScan scan(events, wanted, reaches, sink);
            without_python([&] { scan.run(); });
        };
        if (before.size()) {
            PlacedReaches reaches{first.data(), before.data(), {}, attributes.data()};
            for (const auto& rows : last) reaches.last.push_back(rows.data());
            run(reaches);
        } else {
            const auto each = span(lookbacks);
            run(PlainReaches{delay, {each.begin(), each.end()}});
        }
    }
};

// For each target: keys, the levels of its influencers and last the stratum; and counts, a row for each key.
// `ends` are the last rows of the look-backs, `first` and `before` as in Reach: nothing where every row is a position.
py::list order_counts(const Array<std::int32_t>& codes, const Array<std::int64_t>& tick,
                      const Array<std::int64_t>& bounds, const Array<std::int64_t>& times,
                      const Array<std::int64_t>& stratum, const Array<std::int64_t>& cuts,
                      const Array<std::uint64_t>& seeds, const MaybeWeights& weights, const Array<std::int32_t>& held,
                      const Array<std::int64_t>& held_by, const Array<bool>& stays, std::int64_t n_labels,
                      bool together, const Array<std::int64_t>& edges, const Array<std::int32_t>& strata,
                      const Array<std::int64_t>& reaches, const Array<std::int32_t>& left_out,
                      std::int64_t delay, bool delay_in_time, const Array<std::int64_t>& replicates) {
    const Ticked events{span(codes), span(tick), span(bounds), span(times), span(stratum), span(cuts), span(seeds),
                        weights_of(weights).of, span(held), span(held_by), stays.data(), n_labels,
                        together};
    const auto some = span(replicates);
    const std::int64_t width = 1 + 3 * some.size;
    py::list found;
    for (py::ssize_t e = 0; e < edges.shape(0); ++e) {
        // Influencer, target, look-back, whether it is a time, whether only what stays is counted, and where the
        // labels of its strata and those left out begin and end.
        const std::int64_t* row = edges.data(e);
        OrderEdge edge{static_cast<std::int32_t>(row[0]), static_cast<std::int32_t>(row[1]), {row[2], row[3] != 0},
                       {delay, delay_in_time}, {strata.data() + row[5], row[6] - row[5]}, {},
                       {left_out.data() + row[7], row[8] - row[7]}, row[4] != 0};
        for (std::int64_t u = row[5]; u < row[6]; ++u) edge.reaches.push_back({reaches.at(u, 0), reaches.at(u, 1) != 0});
        OrderTable table;
        without_python([&] { table = OrderCount(events, edge, some).run(); });
        const auto n = static_cast<std::int64_t>(table.keys.size());
        std::vector<std::int64_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return table.keys[a] < table.keys[b]; });
        py::array_t<std::int64_t> keys(n);
        py::array_t<Count> counts({n, width});
        for (std::int64_t i = 0; i < n; ++i) {
            keys.mutable_data()[i] = static_cast<std::int64_t>(table.keys[order[i]]);
            std::copy_n(table.counts.data() + order[i] * width, width, counts.mutable_data() + i * width);
        }
        found.append(py::make_tuple(keys, counts, table.influencers, table.in_one_block));
    }
    return found;
}

// For each target: squares[kind, edge], and clusters[kind, with or without, influencer]. `starts` are rows where
// blocks of `targets` begin.
py::list clusters(const PyPresence& given, const std::vector<Array<std::int64_t>>& patterns,
                  const std::vector<Array<double>>& base, const std::vector<Array<double>>& hit,
                  const std::vector<Array<std::int64_t>>& starts,
                  const std::vector<std::vector<std::size_t>>& targets) {
    std::vector<ClusterValues> values;
    for (std::size_t t = 0; t < patterns.size(); ++t)
        values.push_back({span(patterns[t]), span(base[t]), span(hit[t])});
    std::vector<ClusterBlocks> blocks;
    for (std::size_t each = 0; each < starts.size(); ++each) blocks.push_back({span(starts[each]), targets[each]});
    ClusterSums sink(values, std::move(blocks));
    given.scan(sink);
    py::list found;
    for (const auto& total : sink.totals) {
        const auto edges = static_cast<std::int64_t>(total.squares[0].size());
        const auto width = static_cast<std::int64_t>(total.clusters[0][0].size());
        py::array_t<double> squares({std::int64_t{2}, edges});
        py::array_t<Count> counts({std::int64_t{2}, std::int64_t{2}, width});
        double* to = squares.mutable_data();
        Count* n = counts.mutable_data();
        for (int kind = 0; kind < 2; ++kind) {
            to = std::copy(total.squares[kind].begin(), total.squares[kind].end(), to);
            for (const auto& side : total.clusters[kind]) n = std::copy(side.begin(), side.end(), n);
        }
        found.append(py::make_tuple(squares, counts));
    }
    return found;
}

class Grower {
  public:
    explicit Grower(const Array<std::uint8_t>& levels)
        : kept_(levels), levels_{levels.data(), levels.shape(1)}, rare_(levels_, levels.shape(0)) {}

    py::tuple grow(const Array<bool>& allowed, const Array<std::int32_t>& rows, const Array<Count>& values,
                   std::int64_t n_levels, std::int64_t leaves, double penalty, double unit, double least_gain,
                   double least) const {
        const std::int64_t n_trees = values.shape(0), n_splits = leaves - 1, n_features = kept_.shape(0);
        py::array_t<std::int32_t> leaf({n_trees, n_splits}), feature({n_trees, n_splits}), level({n_trees, n_splits});
        py::array_t<Count> sums({n_trees, leaves, std::int64_t{2}});
        std::fill_n(leaf.mutable_data(), leaf.size(), -1);
        std::fill_n(feature.mutable_data(), feature.size(), -1);
        std::fill_n(level.mutable_data(), level.size(), 0);
        std::fill_n(sums.mutable_data(), sums.size(), 0);
        const Growth how{n_levels, leaves, penalty, unit, least_gain, least};
        const auto some = span(rows);
        const bool* use = allowed.data();
        const Count* from = values.data();
        std::int32_t *to_leaf = leaf.mutable_data(), *to_feature = feature.mutable_data();
        std::int32_t* to_level = level.mutable_data();
        Count* to_sums = sums.mutable_data();
        without_python([&] {
            for (std::int64_t t = 0; t < n_trees; ++t) {
                std::vector<std::int64_t> features;
                for (std::int64_t f = 0; f < n_features; ++f)
                    if (use[t * n_features + f]) features.push_back(f);
                GrowingTree tree(levels_, rare_, std::move(features), from + t * levels_.n_rows * 2, how);
                tree.grow(some, to_leaf + t * n_splits, to_feature + t * n_splits, to_level + t * n_splits,
                          to_sums + t * leaves * 2);
            }
        });
        return py::make_tuple(leaf, feature, level, sums);
    }

  private:
    Array<std::uint8_t> kept_;  // the numbers that levels_ points to
    Levels levels_;
    Rare rare_;
};

py::array_t<double> said_by_trees(const Array<std::uint8_t>& levels, const Array<std::int32_t>& leaf,
                                  const Array<std::int32_t>& feature, const Array<std::int32_t>& level,
                                  const Array<double>& value, std::int64_t n_outcomes) {
    const std::int64_t n_trees = leaf.shape(0), n_splits = leaf.shape(1), n_leaves = value.shape(1);
    const Levels all{levels.data(), levels.shape(1)};
    py::array_t<double> said({n_outcomes, all.n_rows});
    double* to = said.mutable_data();
    std::fill_n(to, n_outcomes * all.n_rows, 0.0);
    const std::int32_t *from = leaf.data(), *of = feature.data(), *limit = level.data();
    const double* values = value.data();
    without_python([&] {
        for (std::int64_t t = 0; t < n_trees; ++t) {
            const std::int64_t at = t * n_splits;
            add_tree(all, from + at, of + at, limit + at, n_splits, values + t * n_leaves,
                     to + t % n_outcomes * all.n_rows);
        }
    });
    return said;
}

}  // namespace

PYBIND11_MODULE(_native, m) {
    m.doc() = "Counting kernels in C++; see numpy_kernels.py for what each returns.";
    py::class_<PyIndex>(m, "Index")
        .def(py::init<Array<std::int32_t>, Array<std::int64_t>, std::int64_t>());
    py::class_<PyReach>(m, "Reach")
        .def(py::init<Array<std::int32_t>, Array<std::int32_t>, std::vector<Array<std::int32_t>>, Array<std::int32_t>,
                      Array<bool>, Array<std::int32_t>, double>());
    py::class_<PyClock>(m, "Clock")
        .def(py::init([](Array<std::int64_t> clock, Array<std::int64_t> ticks, Array<std::int32_t> before,
                         Array<bool> attributes) { return PyClock{clock, ticks, before, attributes}; }));
    m.def("add_rows", &add_rows_);
    m.def("count", &count);
    m.def("states", &states);
    m.def("totals", &totals);
    m.def("tests", &tests);
    m.def("last_within", &last_within_);
    m.def("leaves", &leaves);
    py::class_<Grower>(m, "Grower").def(py::init<const Array<std::uint8_t>&>()).def("grow", &Grower::grow);
    m.def("said_by_trees", &said_by_trees);
    m.def("followed", &followed);
    py::class_<PyPresence>(m, "Presence")
        .def(py::init<Array<std::int32_t>, Array<std::int64_t>, std::int64_t, MaybeWeights, Array<std::int32_t>,
                      Array<std::int64_t>, std::vector<std::size_t>, Array<std::int64_t>, Array<std::int32_t>,
                      Array<std::int64_t>, std::int64_t, Array<std::int32_t>, Array<std::int32_t>, std::vector<Array<std::int32_t>>, Array<bool>>());
    m.def("clusters", &clusters);
    m.def("order_counts", &order_counts);
}
