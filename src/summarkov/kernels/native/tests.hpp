// Tests of the history: where a decision tree over them leads, and what each further test would tell apart.
#pragma once

#include "count.hpp"

namespace summarkov {

constexpr Position NEVER = std::int64_t{3} << 61;  // farther than any look-back, unlimited included

// A decision tree, a row of seven numbers a node; see history_tests.py.
struct TestTree {
    enum Kind { LEAF, OCCURS, MORE_RECENT, START };
    struct Node {
        std::int64_t kind, label, other, count, within, yes, no;
    };
    const Node* nodes;
};

// What is told apart: the recency of the last few occurrences of some labels, their order, the start.
struct Recency {
    Span<std::int32_t> labels;
    Span<std::int64_t> lookbacks;
    std::int64_t depth;  // occurrences of each label
    Span<std::int64_t> starts;
    bool order;
};

// What distances are measured by: rows themselves, ...
struct PlainClock {
    Position lag(Position i, Position j, std::int64_t) const { return i - j; }
    Position tick(Position i) const { return i; }
    Position next(Position i, Position) const { return i + 1; }
    bool begins(Position) const { return true; }
    bool is_attribute(std::int64_t) const { return false; }
};

// ... or positions that rows share, or time. Attributes are at hand everywhere.
struct PlacedClock {
    const std::int32_t* codes;
    const std::int64_t* times;        // of each row; nothing: positions are counted
    const std::int64_t* now;          // the time from which each row looks back
    const std::int32_t* before;       // positions that begin before each row
    const bool* attributes;           // one per label

    Position lag(Position i, Position j, std::int64_t z) const {
        if (attributes[z]) return 0;
        return times ? now[i] - times[j] : before[i + 1] - before[j + 1];
    }
    Position tick(Position i) const { return before[i + 1] - (codes[i] < 0 || !attributes[codes[i]]); }
    // The row after the last of the position of row i.
    Position next(Position i, Position stop) const {
        for (++i; i < stop && before[i + 1] == before[i]; ++i) {}
        return i;
    }
    bool begins(Position i) const { return before[i + 1] > before[i]; }
    bool is_attribute(std::int64_t z) const { return attributes[z]; }
};

// The past of one sequence while it is walked through.
template <class Clock>
class Walk {
  public:
    Walk(const Index& index, const Clock& clock, std::int64_t depth)
        : index_(index), clock_(clock), depth_(depth), last_(index.n_labels * depth) {}

    // Calls visit(sequence, row) where each event stands, before its position becomes part of the past.
    template <class Visit>
    void run(Visit visit) {
        std::fill(last_.begin(), last_.end(), -NEVER);
        for (std::int64_t s = 0; s < index_.n_sequences(); ++s) {
            const Position end = index_.offsets[s + 1];
            if (index_.offsets[s] < end) begin_ = clock_.tick(index_.offsets[s]);
            for (Position i = index_.offsets[s]; i < end;) {
                const bool head = index_.codes[i] >= 0 && clock_.is_attribute(index_.codes[i]);
                const Position next = head ? i + 1 : clock_.next(i, end);
                for (Position j = i; j < next; ++j) visit(s, j);
                for (Position j = i; j < next; ++j) see(index_.codes[j], j);
                i = next;
            }
            for (auto z : recent_) std::fill_n(last_.begin() + z * depth_, depth_, -NEVER);
            recent_.clear();
        }
    }

    // How far back the count-th most recent occurrence is.
    Position lag(Position i, std::int64_t label, std::int64_t count) const {
        const Position last = last_[label * depth_ + count - 1];
        return last == -NEVER ? NEVER : clock_.lag(i, last, label);
    }

    // The labels that occurred, the most recent first.
    const std::vector<std::int32_t>& recent() const { return recent_; }

    // How many positions precede.
    Position since_start(Position i) const { return clock_.tick(i) - begin_; }

    std::int64_t leaf(const TestTree& tree, Position i) const {
        std::int64_t at = 0;
        for (;;) {
            const auto& node = tree.nodes[at];
            bool yes = false;
            switch (node.kind) {
                case TestTree::OCCURS: yes = lag(i, node.label, node.count) <= node.within; break;
                case TestTree::MORE_RECENT: yes = last_[node.label * depth_] > last_[node.other * depth_]; break;
                case TestTree::START: yes = since_start(i) < node.within; break;
                default: return at;
            }
            at = yes ? node.yes : node.no;
        }
    }

  private:
    void see(std::int32_t z, Position i) {
        if (z < 0) return;
        Position* mine = last_.data() + z * depth_;
        for (std::int64_t c = depth_ - 1; c > 0; --c) mine[c] = mine[c - 1];
        mine[0] = i;
        auto found = std::find(recent_.begin(), recent_.end(), z);
        if (found == recent_.end()) found = recent_.insert(found, z);
        std::rotate(recent_.begin(), found, found + 1);
    }

    const Index& index_;
    const Clock& clock_;
    std::int64_t depth_;
    std::vector<Position> last_;  // of each label, the most recent first
    std::vector<std::int32_t> recent_;
    Position begin_ = 0;
};

// The tables of every open leaf, each with the outcomes last.
struct TestTables {
    Count* counts;  // [open, x]
    Count* lags;    // [open, label, occurrence, look-back, x]
    Count* starts;  // [open, start, x]
    Count* pairs;   // [open, label, less recent label, x]
};

template <class Clock>
void count_tests(const Index& index, const Clock& clock, const Weights& weights, const TestTree& tree, Span<std::int64_t> slots,
                        const Recency& recency, const Outcomes& outcomes, const TestTables& tables) {
    const std::int64_t n_labels = recency.labels.size, deep = recency.depth, bins = recency.lookbacks.size,
                       n_starts = recency.starts.size, n_x = outcomes.n;
    std::vector<std::int32_t> row_of(index.n_labels, -1);
    for (std::int64_t r = 0; r < n_labels; ++r) row_of[recency.labels[r]] = static_cast<std::int32_t>(r);
    // Most lags are short, so their bins are looked up in a table.
    auto search = [&](Position lag) {
        return std::lower_bound(recency.lookbacks.begin(), recency.lookbacks.end(), lag) - recency.lookbacks.begin();
    };
    std::vector<std::int64_t> bin_of(64);
    for (Position lag = 0; lag < 64; ++lag) bin_of[lag] = search(lag);
    std::vector<std::int32_t> rows;
    rows.reserve(n_labels);
    Walk<Clock> walk(index, clock, deep);
    const std::int32_t residual = outcomes.residual();
    auto count = [&](std::int64_t slot, Position i, std::int64_t x, Count weight) {
        tables.counts[slot * n_x + x] += weight;
        const auto start = std::upper_bound(recency.starts.begin(), recency.starts.end(), walk.since_start(i));
        if (start != recency.starts.end())
            tables.starts[(slot * n_starts + (start - recency.starts.begin())) * n_x + x] += weight;
        rows.clear();
        for (auto z : walk.recent()) {
            const std::int32_t row = row_of[z];
            if (row < 0) continue;
            rows.push_back(row);
            Count* mine = tables.lags + (slot * n_labels + row) * deep * bins * n_x + x;
            for (std::int64_t c = 0; c < deep; ++c, mine += bins * n_x) {
                const Position lag = walk.lag(i, z, c + 1);
                if (lag >= NEVER / 2) break;
                const std::int64_t bin = lag < 64 ? bin_of[lag] : search(lag);
                if (bin < bins) mine[bin * n_x] += weight;
            }
        }
        if (!recency.order) return;
        Count* mine = tables.pairs + slot * n_labels * n_labels * n_x + x;
        for (std::size_t a = 0; a + 1 < rows.size(); ++a) {
            Count* first = mine + rows[a] * n_labels * n_x;
            for (std::size_t b = a + 1; b < rows.size(); ++b) first[rows[b] * n_x] += weight;
        }
    };
    walk.run([&](std::int64_t sequence, Position i) {
        const std::int32_t code = index.codes[i];
        const std::int32_t x = outcomes.of[code < 0 ? outcomes.of.size - 1 : code];
        const Count weight = weights[sequence];
        if (weight == 0 || (code >= 0 && clock.is_attribute(code))) return;
        // A row adds to the outcome of its label; the residual one gets one for each position less one for each
        // such row.
        const bool is_explicit = x >= 0 && x != residual;
        const Count rest = residual < 0 ? 0 : clock.begins(i) - is_explicit;
        if (!is_explicit && !rest) return;
        const std::int64_t slot = slots[walk.leaf(tree, i)];
        if (slot < 0) return;
        if (is_explicit) count(slot, i, x, weight);
        if (rest) count(slot, i, residual, rest * weight);
    });
}

}  // namespace summarkov
