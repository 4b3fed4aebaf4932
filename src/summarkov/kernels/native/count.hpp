// The counts that searches ask for.
#pragma once

#include <new>

#include "present.hpp"

namespace summarkov {

// Which outcome every label has. All that is not of an explicit outcome is the residual one, and is counted by
// taking the explicit ones away from the whole.
struct Outcomes {
    Span<std::int32_t> of;  // one per label; the last entry is for events of no known label
    std::int64_t n;
    std::int32_t residual() const { return of[of.size - 1]; }
    bool is_explicit(std::int64_t z) const { return of[z] != residual() && of[z] >= 0; }
};

struct Weights {
    Span<std::int64_t> of;  // one per sequence; empty: all ones
    Count operator[](std::int64_t sequence) const { return of.data ? of[sequence] : 1; }
};

// At how many positions each label is present, by level: totals[z * deep + level - 1].
template <class Rows>
std::vector<Count> count_totals(const Rows& rows, const Weights& weights) {
    const Index& index = rows.index;
    const Window& window = rows.window;
    const std::int64_t deep = window.kind == COUNT ? window.cap : 1;
    std::vector<Count> totals(index.n_labels * deep, 0);
    std::vector<std::int64_t> next(index.starts.begin(), index.starts.end() - 1);  // each label's place in its list
    auto event = [&](std::int32_t z, Position j, std::int64_t sequence) {
        const std::int64_t e = next[z]++;
        const Position stop = index.offsets[sequence + 1];
        Position first = j;
        for (std::int64_t l = 1; l <= deep; ++l) {  // as in present.hpp
            const bool more = e + l < index.starts[z + 1] && index.order[e + l] < stop;
            Position last = std::min(rows.end(z, j), stop - 1);
            if (more) last = std::min(last, rows.begin(index.order[e + l]) - 1);
            const Position n = rows.length(rows.begin(first), last + 1);
            if (n > 0) {
                totals[z * deep + l - 1] += n * weights[sequence];
                if (l > 1) totals[z * deep + l - 2] -= n * weights[sequence];
            }
            if (!more) break;
            first = index.order[e + l];
        }
    };
    for (std::int64_t sequence = 0; sequence < index.n_sequences(); ++sequence)
        for (Position i = index.offsets[sequence]; i < index.offsets[sequence + 1]; ++i)
            if (index.codes[i] >= 0) event(index.codes[i], i, sequence);
    return totals;
}

// How many positions are in each state.
template <class Rows>
std::vector<std::int64_t> positions_of(const Rows& rows, const States& states, bool with_rest = true) {
    std::vector<std::int64_t> found(states.size(), 0);
    std::int64_t rest = rows.length(0, rows.index.codes.size);
    for (const auto& run : states.runs) {
        const Position n = rows.length(run.begin, run.end);
        found[run.state] += n;
        rest -= n;
    }
    if (with_rest) found[0] = rest;
    return found;
}

// N(x; s), and N(x; s, level of z) for every candidate z.
struct Counted {
    States states;
    std::vector<std::int64_t> positions;  // of each state, unweighted
    std::vector<Count> counts;            // [x][s]
    std::vector<Count> present;           // [x][c][s][level - 1]
};

// `given` is the place of an influencer; then only positions at which it is present are counted. -1: all are.
template <class Rows>
class Counter {
  public:
    Counter(const Rows& rows, const Weights& weights, Span<std::int32_t> influencers, std::int64_t given,
            Span<std::int32_t> candidates, const Outcomes& outcomes, std::int64_t most_cells)
        : rows_(rows), index_(rows.index), weights_(weights), candidates_(candidates), outcomes_(outcomes),
          window_(rows.window), with_rest_(given < 0), row_of_(index_.n_labels, -1),
          deep_(window_.levels(influencers.size) - 1) {
        out_.states = follow_states(rows, influencers, given);
        n_states_ = out_.states.size();
        for (std::int64_t c = 0; c < candidates.size; ++c) row_of_[candidates[c]] = static_cast<std::int32_t>(c);
        block_ = candidates.size * n_states_ * deep_;
        if (block_ > most_cells / std::max<std::int64_t>(1, outcomes.n)) throw std::bad_alloc();
        out_.counts.assign(outcomes.n * n_states_, 0);
        out_.present.assign(outcomes.n * block_, 0);
    }

    Counted run(const std::vector<Count>& totals) {
        if (sweeping()) {
            count_points_in_order<Sweep<Rows>>();
            if (outcomes_.residual() >= 0) count_runs<Sweep<Rows>>();
        } else {
            if (in_order())
                count_points_in_order<Lookback<Rows>>();
            else
                count_points_by_label();
            if (outcomes_.residual() >= 0) count_runs<Lookback<Rows>>();
        }
        out_.positions = positions_of(rows_, out_.states, with_rest_);
        if (outcomes_.residual() >= 0) {
            if (with_rest_) count_rest(totals);
            take_explicit();
        }
        return std::move(out_);
    }

  private:
    // Whether one sweep over all events is cheaper than looking back from each place that matters.
    bool sweeping() const {
        if (!block_ || !Sweep<Rows>::serves(index_, window_)) return false;
        std::int64_t points = n_points();
        if (!with_rest_) {  // no other points than those in runs
            Position inside = 0;
            for (const auto& run : out_.states.runs) inside += run.end - run.begin;
            points = std::min<std::int64_t>(points, inside);
        }
        const double places = static_cast<double>(out_.states.runs.size() + points);
        const double reach = rows_.mean_reach();
        const double present = std::min(reach, static_cast<double>(index_.n_labels));
        return places * reach > 4 * (static_cast<double>(index_.codes.size) + places * present);
    }

    // Events of explicit outcomes.
    std::int64_t n_points() const {
        std::int64_t n = 0;
        for (std::int64_t z = 0; z < index_.n_labels; ++z)
            if (outcomes_.is_explicit(z)) n += index_.starts[z + 1] - index_.starts[z];
        return n;
    }

    // Whether to count them in the order of the events, near each other in memory, and not label by label, whose
    // cells are near each other: where they are many and all cells stay near the processor.
    bool in_order() const {
        constexpr std::int64_t near_cells = 1 << 20;
        return 8 * n_points() > index_.codes.size && outcomes_.n * block_ <= near_cells;
    }

    Cells cells(std::int64_t outcome) { return {out_.present.data() + outcome * block_, n_states_, deep_}; }

    // The stretch in the state of run `r`, or in the rest state; ordinal: those present, in the order of the scan.
    Stretch stretch(Position begin, Position end, std::int64_t sequence, std::int64_t r) {
        Stretch made{begin, end, sequence, 0, nullptr, 0, weights_[sequence]};
        if (r < 0) return made;
        made.state = out_.states.runs[r].state;
        if (!window_.ordinal()) return made;
        sorted_.clear();
        const auto* stands = out_.states.stands.data() + r * out_.states.width;
        for (std::int64_t u = 0; u < out_.states.width; ++u)
            if (stands[u] != States::ABSENT) sorted_.push_back(stands[u]);
        std::sort(sorted_.begin(), sorted_.end());
        if (window_.kind == ORDINAL_LAST) std::reverse(sorted_.begin(), sorted_.end());
        made.stands = sorted_.data();
        made.n_stands = static_cast<std::int64_t>(sorted_.size());
        return made;
    }

    // Count one event of an explicit outcome; `r` and `sequence` are where the searches for its run and its
    // sequence begin.
    template <class Scan>
    void count_point(Position i, std::int64_t& sequence, std::int64_t& r, std::int64_t outcome, Scan& scan) {
        const auto& runs = out_.states.runs;
        i = rows_.begin_of(i);
        while (r < static_cast<std::int64_t>(runs.size()) && runs[r].end <= i) ++r;
        const bool inside = r < static_cast<std::int64_t>(runs.size()) && runs[r].begin <= i;
        if (!inside && !with_rest_) return;
        sequence = inside ? runs[r].sequence : index_.sequence_of(i, sequence);
        const Stretch point = stretch(i, i + 1, sequence, inside ? r : -1);
        out_.counts[outcome * n_states_ + point.state] += point.weight;
        if (block_ && point.weight) scan.add(point, cells(outcome));
    }

    void count_points_by_label() {
        Lookback<Rows> look(rows_, row_of_);
        for (std::int64_t z = 0; z < index_.n_labels; ++z) {
            if (!outcomes_.is_explicit(z)) continue;
            std::int64_t sequence = 0, r = 0;
            for (std::int64_t e = index_.starts[z]; e < index_.starts[z + 1]; ++e)
                count_point(index_.order[e], sequence, r, outcomes_.of[z], look);
        }
    }

    template <class Scan>
    void count_points_in_order() {
        Scan scan(rows_, row_of_);
        std::int64_t r = 0;
        for (std::int64_t sequence = 0; sequence < index_.n_sequences(); ++sequence)
            for (Position i = index_.offsets[sequence]; i < index_.offsets[sequence + 1]; ++i) {
                const std::int32_t z = index_.codes[i];
                if (z >= 0 && outcomes_.is_explicit(z)) count_point(i, sequence, r, outcomes_.of[z], scan);
            }
    }

    // For the residual outcome: everything first, the explicit outcomes are taken away later.
    template <class Scan>
    void count_runs() {
        Scan scan(rows_, row_of_);
        for (std::int64_t r = 0; r < static_cast<std::int64_t>(out_.states.runs.size()); ++r) {
            const Run& run = out_.states.runs[r];
            const Stretch whole = stretch(run.begin, run.end, run.sequence, r);
            out_.counts[outcomes_.residual() * n_states_ + run.state] += whole.weight * rows_.length(run.begin, run.end);
            if (block_ && whole.weight) scan.add(whole, cells(outcomes_.residual()));
        }
    }

    // For the residual outcome: the rest state, which no run is of.
    void count_rest(const std::vector<Count>& totals) {
        const std::int64_t rest = outcomes_.residual();
        Count* all = out_.counts.data() + rest * n_states_;
        for (std::int64_t s = 0; s < index_.n_sequences(); ++s)
            all[0] += weights_[s] * rows_.length(index_.offsets[s], index_.offsets[s + 1]);
        for (std::int64_t s = 1; s < n_states_; ++s) all[0] -= all[s];
        Count* present = out_.present.data() + rest * block_;
        const std::int64_t told = window_.kind == COUNT ? deep_ : 1;  // levels that totals tell apart
        for (std::int64_t c = 0; c < candidates_.size; ++c) {
            Count* row = present + c * n_states_ * deep_;
            for (std::int64_t l = 0; l < told; ++l) row[l] = totals[candidates_[c] * told + l];
            for (std::int64_t s = 1; s < n_states_; ++s)
                for (std::int64_t l = 0; l < deep_; ++l) row[std::min(l, told - 1)] -= row[s * deep_ + l];
        }
    }

    void take_explicit() {
        const std::int64_t rest = outcomes_.residual();
        Count* all = out_.counts.data() + rest * n_states_;
        Count* present = out_.present.data() + rest * block_;
        for (std::int64_t x = 0; x < outcomes_.n; ++x) {
            if (x == rest) continue;
            for (std::int64_t s = 0; s < n_states_; ++s) all[s] -= out_.counts[x * n_states_ + s];
            const Count* taken = out_.present.data() + x * block_;
            for (std::int64_t i = 0; i < block_; ++i) present[i] -= taken[i];
        }
    }

    const Rows& rows_;
    const Index& index_;
    const Weights& weights_;
    Span<std::int32_t> candidates_;
    const Outcomes& outcomes_;
    const Window& window_;
    bool with_rest_;
    std::vector<std::int32_t> row_of_;
    std::vector<std::int32_t> sorted_;
    std::int64_t deep_, n_states_ = 1, block_ = 0;
    Counted out_;
};

}  // namespace summarkov
