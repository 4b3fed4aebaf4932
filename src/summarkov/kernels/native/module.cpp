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

py::tuple count(PyIndex& shard, const MaybeWeights& weights, const Array<std::int32_t>& influencers,
                const Array<std::int32_t>& candidates, const Array<std::int32_t>& outcome_of, std::int64_t n_outcomes,
                const py::tuple& looking, std::optional<std::int64_t> given, std::int64_t most_cells) {
    const PyWindow seen(looking);
    const Window& window = seen.window;
    const PyReach* reach = shard.reach(seen);
    const Weights each = weights_of(weights);
    const Outcomes outcomes{span(outcome_of), n_outcomes};
    const auto chosen = span(influencers), joining = span(candidates);
    const py::object weighing = weights ? py::object(*weights) : py::none();
    auto& totals = shard.totals[std::to_string(window.kind) + ":" + std::to_string(window.cap) + seen.name];
    if (joining.size && (!totals.weights || !totals.weights.is(weighing))) {  // the same for all influencers
        auto found = without_python([&] {
            return with_rows(shard, window, reach, [&](const auto& rows) { return count_totals(rows, each); });
        });
        totals = {weighing, std::move(found)};
    }
    const std::vector<Count> whole = joining.size ? totals.counts : std::vector<Count>{};
    const Counted counted = without_python([&] {
        return with_rows(shard, window, reach, [&](const auto& rows) {
            return Counter(rows, each, chosen, given.value_or(-1), joining, outcomes, most_cells).run(whole);
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

py::tuple states(PyIndex& shard, const Array<std::int32_t>& influencers, const py::tuple& looking) {
    const PyWindow seen(looking);
    const PyReach* reach = shard.reach(seen);
    const auto chosen = span(influencers);
    Counted counted;
    without_python([&] {
        with_rows(shard, seen.window, reach, [&](const auto& rows) {
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

using Numbers = Array<std::int64_t>;

TestTree tree_of(const Numbers& tree) {
    static_assert(sizeof(TestTree::Node) == 7 * sizeof(std::int64_t));
    return {reinterpret_cast<const TestTree::Node*>(tree.data())};
}

// Call `use` with what distances are measured by: rows, unless several share a position, or time does it.
template <class Use>
void with_clock(PyIndex& shard, bool in_time, Use use) {
    if (shard.in_rows && !in_time) return without_python([&] { use(PlainClock{}); });
    const std::int64_t* times = in_time ? shard.times->data() : nullptr;
    const PlacedClock clock{shard.index.codes.data, times, in_time && shard.asked ? shard.asked->data() : times,
                            shard.before().data(), shard.attributes.data()};
    without_python([&] { use(clock); });
}

// `told` has labels, look-backs, depth, starts, whether order matters, and whether look-backs are times.
py::tuple tests(PyIndex& shard, const MaybeWeights& weights, const Numbers& tree, const Numbers& slots,
                const py::tuple& told, const Array<std::int32_t>& outcome_of, std::int64_t n_outcomes,
                const std::vector<std::vector<std::int64_t>>& shapes) {
    const auto labels = told[0].cast<Array<std::int32_t>>();
    const auto lookbacks = told[1].cast<Numbers>(), starts = told[3].cast<Numbers>();
    std::vector<py::array_t<Count>> tables;
    for (const auto& shape : shapes) {
        tables.emplace_back(shape);
        std::fill_n(tables.back().mutable_data(), tables.back().size(), 0);
    }
    const TestTables into{tables[0].mutable_data(), tables[1].mutable_data(), tables[2].mutable_data(),
                          tables[3].mutable_data()};
    const Recency recency{span(labels), span(lookbacks), told[2].cast<std::int64_t>(), span(starts),
                          told[4].cast<bool>()};
    const Outcomes outcomes{span(outcome_of), n_outcomes};
    with_clock(shard, told[5].cast<bool>(), [&](const auto& by) {
        count_tests(shard.index, by, weights_of(weights), tree_of(tree), span(slots), recency, outcomes, into);
    });
    return py::make_tuple(tables[0], tables[1], tables[2], tables[3]);
}

py::array_t<std::int64_t> leaves(PyIndex& shard, const Numbers& tree, bool in_time) {
    py::array_t<std::int64_t> found(shard.index.codes.size);
    std::int64_t* to = found.mutable_data();
    const TestTree nodes = tree_of(tree);
    std::int64_t depth = 1;
    for (py::ssize_t at = 0; at < tree.shape(0); ++at) depth = std::max(depth, nodes.nodes[at].count);
    with_clock(shard, in_time, [&](const auto& by) {
        Walk walk(shard.index, by, depth);
        walk.run([&](std::int64_t, Position i) { to[i] = walk.leaf(nodes, i); });
    });
    return found;
}

// A row of `pairs` is z, x, delay and look-back, and whether these are times.
py::tuple followed(PyIndex& shard, const MaybeWeights& weights, const Array<bool>& complete, const Numbers& pairs) {
    const std::int64_t n = pairs.shape(0);
    py::array_t<Count> sums({n, std::int64_t{8}});
    const std::int64_t* pair = pairs.data();
    Count* to = sums.mutable_data();
    const Weights each = weights_of(weights);
    const std::int32_t* before = shard.in_rows ? nullptr : shard.before().data();
    std::vector<std::int64_t> bounds(shard.index.offsets.begin(), shard.index.offsets.end()), times;
    if (before) {
        for (auto& bound : bounds) bound = before[bound];
        for (Position i = 0; shard.times && i < shard.index.codes.size; ++i)
            if (shard.begins(i)) times.push_back(shard.times->data()[i]);
    }
    Span<std::int64_t> clock{times.data(), static_cast<std::int64_t>(times.size())};
    if (!before && shard.times) clock = span(*shard.times);
    WholeSequences whole{shard.index, before, {bounds.data(), static_cast<std::int64_t>(bounds.size())},
                         span(complete), clock, before ? shard.attributes.data() : nullptr, {}};
    std::vector<std::int64_t> lags;  // pair, kind, bin, number
    without_python([&] {
        whole.number();
        std::map<std::int64_t, std::vector<std::int32_t>> within;  // for spans of time
        auto reach = [&](std::int64_t size) {
            auto& found = within[size / shard.unit];
            if (found.empty()) {
                found.resize(whole.times.size);
                last_within(whole.times, whole.bounds, size / shard.unit, found.data());
            }
            return found.data();
        };
        FollowCounts found;
        FollowCounter counter(whole, each);
        for (std::int64_t i = 0; i < n; ++i, pair += 6) {
            const bool in_time = pair[5] && pair[3] < UNLIMITED;
            const std::int64_t over = in_time ? (pair[3] + shard.unit - 1) / shard.unit : pair[3];
            counter.count(pair[0], pair[1],
                          {pair[2], pair[3], pair[4] ? reach(pair[2]) : nullptr, in_time ? reach(pair[3]) : nullptr, over},
                          found);
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

// All that the order test takes of a shard, and of some edges.
struct OrderAsked {
    std::vector<py::object> kept;  // what the others point into
    Ticked events;
    std::vector<OrderEdge> edges;
    std::vector<std::vector<std::int64_t>> occurrences;  // rows of each label that is an influencer
};

OrderAsked order_asked(const py::tuple& events, const py::tuple& edges) {
    OrderAsked asked;
    const auto array = [&](const py::tuple& of, std::size_t at, auto type) {
        const auto found = of[at].cast<Array<decltype(type)>>();
        asked.kept.push_back(found);
        return Span<decltype(type)>{found.data(), found.size()};
    };
    const std::int64_t number = 0;
    const std::int32_t code = 0;
    asked.events = {array(events, 0, code), array(events, 1, number), array(events, 2, number),
                    array(events, 3, number), array(events, 4, std::uint8_t{}), array(events, 5, number),
                    array(events, 6, std::uint64_t{}), {}, array(events, 8, code), array(events, 9, number),
                    array(events, 10, false).data, events[11].cast<std::int64_t>(), events[12].cast<bool>()};
    if (!events[7].is_none()) asked.events.weights = array(events, 7, number);
    const auto rows = edges[0].cast<Numbers>(), reaches = edges[2].cast<Numbers>();
    const auto strata = array(edges, 1, code), left_out = array(edges, 3, code);
    const OrderReach delay{edges[4].cast<std::int64_t>(), edges[5].cast<bool>()};
    asked.occurrences.resize(asked.events.n_labels);
    std::vector<char> moves(asked.events.n_labels, 0);
    for (py::ssize_t e = 0; e < rows.shape(0); ++e) {
        // Influencer, target, look-back, whether it is a time, whether only what stays is counted, and where the
        // labels of its strata and those left out begin and end; and which part of the sequences counts.
        const std::int64_t* row = rows.data(e);
        asked.edges.push_back({static_cast<std::int32_t>(row[0]), static_cast<std::int32_t>(row[1]), {row[2], row[3] != 0},
                               delay, {strata.data + row[5], row[6] - row[5]}, {},
                               {left_out.data + row[7], row[8] - row[7]}, row[4] != 0,
                               static_cast<std::uint64_t>(row[9]), static_cast<std::uint64_t>(row[10])});
        for (std::int64_t u = row[5]; u < row[6]; ++u)
            asked.edges.back().reaches.push_back({reaches.at(u, 0), reaches.at(u, 1) != 0});
        moves[row[0]] = 1;
    }
    without_python([&] {
        for (std::int64_t i = 0; i < asked.events.codes.size; ++i)
            if (const auto z = asked.events.codes[i]; z >= 0 && moves[z]) asked.occurrences[z].push_back(i);
    });
    return asked;
}

// For each edge: keys of strata, counts, and events of the influencer.
py::list order_counts(const py::tuple& events, const py::tuple& edges, const Numbers& replicates) {
    const OrderAsked asked = order_asked(events, edges);
    const auto some = span(replicates);
    py::list found;
    for (const auto& edge : asked.edges) {
        OrderTable table;
        without_python([&] { table = OrderCount(asked.events, edge, asked.occurrences[edge.influencer], some).run(); });
        std::vector<std::int64_t> order;  // of rows in which something was counted
        const std::int64_t width = table.width;
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(table.keys.size()); ++row)
            if (table.counts[row * width] || table.counts[row * width + width - 2]) order.push_back(row);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return table.keys[a] < table.keys[b]; });
        const auto n = static_cast<std::int64_t>(order.size());
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

// For each target: squares[kind, edge], and clusters[kind, with or without, influencer]. A target is a tuple of its
// influencers, their look-backs and which of these are times, the labels, which influencers are present in each state
// and what that adds (see ClusterValues), and the rows where blocks begin.
py::list clusters(PyIndex& shard, const MaybeWeights& weights, const std::vector<py::tuple>& targets,
                  std::int64_t delay, bool delay_in_time) {
    std::vector<std::int32_t> influencers, labels;
    std::vector<std::int64_t> begins{0}, labels_begin{0};
    std::vector<std::size_t> reach_of;
    std::vector<std::vector<std::int64_t>> patterns;
    std::vector<Array<double>> base, hit;
    std::vector<Numbers> starts;
    std::map<Far, std::size_t> fars;
    bool any_time = delay_in_time;
    for (const auto& target : targets) {
        const auto lookbacks = target[1].cast<Numbers>();
        const auto in_time = target[2].cast<Array<bool>>();
        const auto some = target[0].cast<Array<std::int32_t>>(), outcomes = target[3].cast<Array<std::int32_t>>();
        influencers.insert(influencers.end(), some.data(), some.data() + some.size());
        labels.insert(labels.end(), outcomes.data(), outcomes.data() + outcomes.size());
        begins.push_back(static_cast<std::int64_t>(influencers.size()));
        labels_begin.push_back(static_cast<std::int64_t>(labels.size()));
        for (std::int64_t u = 0; u < lookbacks.size(); ++u) {
            const Far far{lookbacks.data()[u], in_time.data()[u]};
            any_time |= far.second;
            reach_of.push_back(fars.try_emplace(far, fars.size()).first->second);
        }
        const auto present = target[4].cast<Array<std::int32_t>>();
        patterns.emplace_back(present.shape(0), 0);
        for (py::ssize_t row = 0; row < present.shape(0); ++row)
            for (py::ssize_t u = 0; u < present.shape(1); ++u)
                patterns.back()[row] = 2 * patterns.back()[row] + (present.at(row, u) > 0);
        base.push_back(target[5].cast<Array<double>>());
        hit.push_back(target[6].cast<Array<double>>());
        starts.push_back(target[7].cast<Numbers>());
    }
    auto spanned = [](const auto& some) {
        return Span<typename std::decay_t<decltype(some)>::value_type>{some.data(), static_cast<std::int64_t>(some.size())};
    };
    std::vector<ClusterValues> values;
    std::map<const std::int64_t*, ClusterBlocks> by_starts;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        values.push_back({spanned(patterns[t]), span(base[t]), span(hit[t])});
        auto& blocks = by_starts[starts[t].data()];
        blocks.starts = span(starts[t]);
        blocks.targets.push_back(t);
    }
    std::vector<ClusterBlocks> blocks;
    for (const auto& each : by_starts) blocks.push_back(each.second);
    ClusterSums sink(values, std::move(blocks));
    const PresenceEvents events{shard.index.codes, shard.index.offsets, shard.index.n_labels, weights_of(weights).of};
    const PresenceAsked asked{spanned(influencers), reach_of, fars.size(), spanned(begins), spanned(labels),
                              spanned(labels_begin)};
    auto scan = [&](const auto& reaches) {
        PresenceScan scanned(events, asked, reaches, sink);
        without_python([&] { scanned.run(); });
    };
    if (shard.in_rows && !any_time) {
        PlainReaches reaches{delay, std::vector<Position>(fars.size())};
        for (const auto& [far, at] : fars) reaches.lookbacks[at] = far.first;
        scan(reaches);
    } else {
        PlacedReaches reaches{shard.firsts({delay, delay_in_time}).data(), shard.before().data(),
                              std::vector<const std::int32_t*>(fars.size()), shard.attributes.data()};
        for (const auto& [far, at] : fars) reaches.last[at] = shard.ends(far).data();
        scan(reaches);
    }
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
        .def(py::init<Array<std::int32_t>, Array<std::int64_t>, std::int64_t, std::optional<Array<bool>>, Array<bool>,
                      std::optional<Numbers>, std::int64_t, std::optional<Numbers>>());
    m.def("count", &count);
    m.def("states", &states);
    m.def("tests", &tests);
    m.def("leaves", &leaves);
    py::class_<Grower>(m, "Grower").def(py::init<const Array<std::uint8_t>&>()).def("grow", &Grower::grow);
    m.def("said_by_trees", &said_by_trees);
    m.def("followed", &followed);
    m.def("clusters", &clusters);
    m.def("order_counts", &order_counts);
}
