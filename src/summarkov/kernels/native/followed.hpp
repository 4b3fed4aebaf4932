// How often one label follows another within a window, counted over occurrences and over sequences.
#pragma once

#include <array>
#include <map>

#include "count.hpp"

namespace summarkov {

// Whose followings are counted, beside a label: all positions, or all sequences.
constexpr std::int64_t EVERY_POSITION = -1, EVERY_SEQUENCE = -2;

// Lags up to 255 have bins of their own, longer ones share theirs with lags that are less than 1% longer.
inline std::int64_t lag_bin(std::int64_t lag) {
    int shift = 0;
    while (lag >> shift >= 256) ++shift;
    return 128 * shift + (lag >> shift);
}

// Whole sequences. Positions are numbered through all of them.
struct WholeSequences {
    const Index& index;
    const std::int32_t* before;   // positions that begin before each row; nothing: rows are positions
    Span<std::int64_t> bounds;    // the first position of each sequence
    Span<bool> complete;          // whether the last position of a sequence is its end, and no event
    Span<std::int64_t> times;     // of each position, if there are any
    const bool* attributes;       // of each label; nothing: none is
    std::vector<std::int32_t> sequence;  // of each position

    void number() {
        sequence.resize(bounds[bounds.size - 1]);
        for (std::int64_t s = 0; s + 1 < bounds.size; ++s)
            std::fill(sequence.begin() + bounds[s], sequence.begin() + bounds[s + 1], static_cast<std::int32_t>(s));
    }
    std::int64_t size() const { return bounds.size - 1; }
    // One past the last event of a sequence.
    Position stop(std::int64_t s) const { return bounds[s + 1] - complete[s]; }
    Position at(Position row) const { return before ? before[row + 1] - 1 : row; }
};

// More than `delay` and at most `lookback` after an occurrence. `near` and `far`, where these are times: the last
// position that is no further than that from each. A window is over once `whole` has passed.
struct FollowWindow {
    Position delay, lookback;
    const std::int32_t *near, *far;
    std::int64_t whole;

    Position first(Position i) const { return near ? near[i] + 1 : i + delay + 1; }
    Position last(Position i, Position end) const { return far ? far[i] : lookback < end - i ? i + lookback : end - 1; }
};

struct FollowCounts {
    // Sequences with z, those in which x follows it, those with both, those in which z comes first; occurrences
    // of z, and those that x follows; the same of those whose window was not cut off.
    std::array<Count, 8> sums{};
    std::vector<Count> hits, censored;  // by the bin of the lag to x, and to the end of a sequence that was cut off

    void clear() {
        sums.fill(0);
        hits.clear();
        censored.clear();
    }
    static void add(std::vector<Count>& to, std::int64_t lag, Count n) {
        const auto bin = static_cast<std::size_t>(lag_bin(lag));
        if (bin >= to.size()) to.resize(bin + 1, 0);
        to[bin] += n;
    }
};

class FollowCounter {
  public:
    FollowCounter(const WholeSequences& whole, const Weights& weights) : whole_(whole), weights_(weights) {}

    void count(std::int64_t z, std::int64_t x, const FollowWindow& window, FollowCounts& to) {
        to.clear();
        const auto& order = whole_.index.order;
        const auto& starts = whole_.index.starts;
        x_ = order.data() + starts[x];
        x_end_ = order.data() + starts[x + 1];
        if (z == EVERY_SEQUENCE) {
            for (std::int64_t s = 0; s < whole_.size(); ++s) visit_sequence(s, to);
        } else if (z == EVERY_POSITION) {
            count_stretches(window, to);
        } else if (whole_.attributes && whole_.attributes[z]) {
            std::int64_t s = 0;
            for (auto row = starts[z]; row < starts[z + 1]; ++row) {
                s = whole_.index.sequence_of(order[row], s);
                visit_sequence(s, to);
            }
        } else {
            next_ = x_;
            std::int64_t latest = -1;
            bool is_followed = false;
            for (auto row = starts[z]; row < starts[z + 1]; ++row) {
                const Position i = whole_.at(order[row]);
                const std::int64_t s = whole_.sequence[i];
                if (s != latest) {
                    latest = s;
                    is_followed = false;
                    to.sums[0] += weights_[s];
                    const Position first = first_x(s);
                    if (first >= 0) {
                        to.sums[2] += weights_[s];
                        if (i < first) to.sums[3] += weights_[s];
                    }
                }
                if (visit(i, s, window, to) && !is_followed) {
                    is_followed = true;
                    to.sums[1] += weights_[s];
                }
            }
        }
    }

  private:
    // Whether x follows position i of sequence s; these must come in order.
    bool visit(Position i, std::int64_t s, const FollowWindow& window, FollowCounts& to) {
        const Count n = weights_[s];
        const Position end = whole_.bounds[s + 1], first = window.first(i), last = window.last(i, end);
        while (next_ != x_end_ && whole_.at(*next_) < first) ++next_;
        const Position x = next_ == x_end_ ? end : whole_.at(*next_);
        const bool hit = x <= last && x < end;
        const std::int64_t later = later_than(i, s, window);
        const bool is_whole = whole_.complete[s] || later >= window.whole;
        to.sums[4] += n;
        if (is_whole) to.sums[6] += n;
        if (hit) {
            to.sums[5] += n;
            if (is_whole) to.sums[7] += n;
            FollowCounts::add(to.hits, window.far ? whole_.times[x] - whole_.times[i] : x - i, n);
        } else if (!is_whole) {
            FollowCounts::add(to.censored, later, n);
        }
        return hit;
    }

    // All positions, whatever stands there: each x follows a stretch of them, that begins where the stretch of the x
    // before it ends at the earliest.
    void count_stretches(const FollowWindow& window, FollowCounts& to) {
        const Baseline& baseline = baseline_of(window);
        to.sums[4] = baseline.n;
        to.sums[6] = baseline.n_whole;
        to.censored = baseline.censored;
        hits_.assign(1, 0);
        less_.assign(1, 0);
        std::int64_t latest = -1;
        Position from = 0;
        for (; x_ != x_end_; ++x_) {
            const Position p = whole_.at(*x_);
            const std::int64_t s = whole_.sequence[p];
            const Count n = weights_[s];
            if (s != latest) from = whole_.bounds[s];
            latest = s;
            Position end = p;  // one past the last
            if (window.near)
                while (end > from && window.first(end - 1) > p) --end;
            else
                end -= window.delay;
            if (!window.far && p - from > window.lookback) from = p - window.lookback;
            if (window.far) {
                Position begin = end;
                while (begin > from && window.far[begin - 1] >= p) --begin;
                from = begin;
                for (Position i = begin; i < end; ++i) {
                    const std::int64_t later = later_than(i, s, window);
                    if (whole_.complete[s] || later >= window.whole) to.sums[7] += n;
                    else FollowCounts::add(to.censored, later, -n);
                    FollowCounts::add(to.hits, whole_.times[p] - whole_.times[i], n);
                }
            } else if (from < end) {  // lags grow by 1 along it, so that its ends tell all
                const Position stop = whole_.stop(s);
                const Position cut = whole_.complete[s] ? end : std::max(from, std::min(end, stop - window.lookback));
                to.sums[7] += n * (cut - from);
                add(hits_, p - end + 1, p - from, n);
                if (cut < end) add(less_, stop - end, stop - 1 - cut, -n);
            }
            if (from < end) to.sums[5] += n * (end - from);
            from = std::max(from, end);
        }
        sum_up(hits_, to.hits);
        sum_up(less_, to.censored);
    }

    // What holds of all positions whatever x is: their number, that of whole windows, and how many are cut off after
    // which lag if x does not follow.
    struct Baseline {
        Count n = 0, n_whole = 0;
        std::vector<Count> censored;
    };

    const Baseline& baseline_of(const FollowWindow& window) {
        const auto [found, is_new] = baselines_.try_emplace({window.far, window.whole});
        Baseline& made = found->second;
        if (!is_new) return made;
        for (std::int64_t s = 0; s < whole_.size(); ++s) {
            const Position first = whole_.bounds[s];
            Position i = whole_.stop(s);
            made.n += weights_[s] * (i - first);
            if (!whole_.complete[s])
                for (; i > first && later_than(i - 1, s, window) < window.whole; --i)
                    FollowCounts::add(made.censored, later_than(i - 1, s, window), weights_[s]);
            made.n_whole += weights_[s] * (i - first);
        }
        return made;
    }

    // How long after a position its sequence goes on.
    std::int64_t later_than(Position i, std::int64_t s, const FollowWindow& window) const {
        const Position last = whole_.stop(s) - 1;
        return window.far ? whole_.times[last] - whole_.times[i] : last - i;
    }

    // Add a number to all from `first` to `last`, as differences.
    static void add(std::vector<Count>& to, std::int64_t first, std::int64_t last, Count n) {
        if (static_cast<std::size_t>(last + 2) > to.size()) to.resize(last + 2, 0);
        to[first] += n;
        to[last + 1] -= n;
    }

    // Add what differences add up to, by bins.
    static void sum_up(const std::vector<Count>& differences, std::vector<Count>& to) {
        Count n = 0;
        for (std::size_t lag = 0; lag < differences.size(); ++lag)
            if (n += differences[lag]) FollowCounts::add(to, static_cast<std::int64_t>(lag), n);
    }

    // A sequence that counts as one occurrence, which is followed by whatever the sequence contains.
    void visit_sequence(std::int64_t s, FollowCounts& to) {
        const bool hit = first_x(s) >= 0;
        for (int kind : {0, 4, 6}) to.sums[kind] += weights_[s];
        if (hit)
            for (int kind : {1, 5, 7}) to.sums[kind] += weights_[s];
    }

    // The first position of x in a sequence, or -1; sequences must come in order.
    Position first_x(std::int64_t s) {
        while (x_ != x_end_ && whole_.at(*x_) < whole_.bounds[s]) ++x_;
        return x_ != x_end_ && whole_.at(*x_) < whole_.bounds[s + 1] ? whole_.at(*x_) : -1;
    }

    const WholeSequences& whole_;
    const Weights& weights_;
    std::map<std::pair<const std::int32_t*, std::int64_t>, Baseline> baselines_;
    std::vector<Count> hits_, less_;
    const std::int32_t *x_ = nullptr, *next_ = nullptr, *x_end_ = nullptr;
};

}  // namespace summarkov
