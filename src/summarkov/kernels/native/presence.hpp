// What many targets follow: by presence of their influencers, in one scan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index.hpp"

namespace summarkov {

// The influencers of target t are those from starts[t] to starts[t + 1], each with one of several look-backs.
struct PresenceAsked {
    Span<std::int32_t> influencers;
    std::vector<std::size_t> reach_of;  // which look-back each has
    std::size_t n_reaches;
    Span<std::int64_t> starts;
    Span<std::int32_t> labels;      // of the outcomes but the residual one, which is the last
    Span<std::int64_t> labels_starts;  // those of target t are from here on

    std::int64_t n_targets() const { return starts.size - 1; }
    std::int64_t n_outcomes(std::int64_t t) const { return labels_starts[t + 1] - labels_starts[t] + 1; }
};

struct PresenceEvents {
    Span<std::int32_t> codes;
    Span<std::int64_t> offsets;
    std::int64_t n_labels;
    Span<std::int64_t> weights;     // one for each sequence; empty: all ones
};

// At which rows an occurrence is in the windows of each look-back, as in index.hpp.
struct PlainReaches {
    Position delay;
    std::vector<Position> lookbacks;
    Position begin(Position j) const { return j + delay + 1; }
    Position end(std::size_t reach, Position j) const { return j + lookbacks[reach]; }
    Position length(Position a, Position b) const { return b - a; }
    bool stays(std::int32_t) const { return false; }
};

struct PlacedReaches {
    const std::int32_t* first;
    const std::int32_t* before;
    std::vector<const std::int32_t*> last;
    const bool* attributes;  // one per label
    Position begin(Position j) const { return first[j]; }
    Position end(std::size_t reach, Position j) const { return last[reach][j]; }
    Position length(Position a, Position b) const { return before[b] - before[a]; }
    bool stays(std::int32_t z) const { return z >= 0 && attributes[z]; }
};

// Follows the windows of all influencers at once. The pattern of a target changes only where an influencer comes
// into its window or leaves it; until then its positions are one run, all of the residual outcome but for hits.
template <class Reaches, class Sink>
class PresenceScan {
  public:
    PresenceScan(const PresenceEvents& events, const PresenceAsked& asked, const Reaches& reaches, Sink& sink)
        : events_(events), asked_(asked), reaches_(reaches), sink_(sink), last_(events.n_labels, ABSENT), hits_(events.n_labels),
          bits_(asked.n_reaches * events.n_labels), leaving_(asked.n_reaches) {
        for (std::int64_t t = 0; t < asked.n_targets(); ++t) {
            const std::int64_t width = asked.starts[t + 1] - asked.starts[t];
            sink.target(width, asked.n_outcomes(t));
            runs_.push_back({0, 0});
            for (std::int64_t u = 0; u < width; ++u) {
                const std::int64_t at = asked.starts[t] + u;
                bits(asked.influencers[at], asked.reach_of[at]).push_back({t, std::uint64_t{1} << (width - 1 - u)});
            }
            for (std::int64_t x = 0; x + 1 < asked.n_outcomes(t); ++x)
                hits_[asked.labels[asked.labels_starts[t] + x]].push_back({t, x});
        }
    }

    void run() {
        for (sequence_ = 0; sequence_ + 1 < events_.offsets.size; ++sequence_) {
            weight_ = events_.weights.data ? events_.weights[sequence_] : 1;
            if (!weight_) continue;
            follow(events_.offsets[sequence_], events_.offsets[sequence_ + 1]);
            sink_.end(weight_);
        }
    }

  private:
    static constexpr Position ABSENT = -(std::int64_t{3} << 61);  // no position

    struct Bit { std::int64_t target; std::uint64_t mask; };
    struct Hit { std::int64_t target, outcome; };
    struct Run { std::uint64_t pattern; Position begin; };

    std::vector<Bit>& bits(std::int32_t z, std::size_t reach) { return bits_[z * asked_.n_reaches + reach]; }

    void follow(Position start, Position stop) {
        Position coming = start;
        std::fill(leaving_.begin(), leaving_.end(), start);
        for (auto& run : runs_) run = {0, start};
        for (Position i = start; i < stop; ++i) {
            sink_.cut(i, weight_, [&](std::size_t t) { close(t, i); });
            for (; coming < i && reaches_.begin(coming) <= i; ++coming) enter(events_.codes[coming], coming, i);
            for (std::size_t r = 0; r < asked_.n_reaches; ++r)
                for (auto& at = leaving_[r]; at < i; ++at)
                    if (!leaves(events_.codes[at], at, r, i)) break;
            if (events_.codes[i] < 0) continue;
            for (const auto& hit : hits_[events_.codes[i]])
                sink_.hit(hit.target, hit.outcome, runs_[hit.target].pattern, weight_);
        }
        for (std::size_t t = 0; t < runs_.size(); ++t) close(t, stop);
    }

    // Count the run of a target up to before row `i`.
    void close(std::size_t target, Position i) {
        auto& run = runs_[target];
        const Position n = reaches_.length(run.begin, i);
        if (n > 0) sink_.positions(target, run.pattern, n, weight_);
        run.begin = i;
    }

    // Label z, which stands at j, comes into all windows of row `i` that reach as far.
    void enter(std::int32_t z, Position j, Position i) {
        if (z < 0) return;
        last_[z] = j;
        for (std::size_t r = 0; r < asked_.n_reaches; ++r)
            if (!bits(z, r).empty() && reaches_.end(r, j) >= i)
                for (const auto& bit : bits(z, r)) change(bit, true, i);
    }

    // What stands at j leaves the windows of one look-back before row `i`, if it does; the label stays if it came
    // again. Attributes, which never leave, hold up nobody.
    bool leaves(std::int32_t z, Position j, std::size_t reach, Position i) {
        if (reaches_.stays(z)) return true;
        if (reaches_.end(reach, j) >= i) return false;
        if (z >= 0 && last_[z] == j)
            for (const auto& bit : bits(z, reach)) change(bit, false, i);
        return true;
    }

    void change(const Bit& bit, bool is_present, Position i) {
        auto& run = runs_[bit.target];
        if (((run.pattern & bit.mask) != 0) == is_present) return;
        close(bit.target, i);
        run.pattern ^= bit.mask;
    }

    const PresenceEvents& events_;
    const PresenceAsked& asked_;
    const Reaches& reaches_;
    Sink& sink_;
    std::vector<Position> last_;           // each label's last occurrence that came into windows, of any sequence
    std::vector<std::vector<Hit>> hits_;   // for each label
    std::vector<std::vector<Bit>> bits_;   // for each label and look-back
    std::vector<Position> leaving_;        // for each look-back the next row to leave
    std::vector<Run> runs_;                // the current run of each target
    std::int64_t sequence_ = 0;
    Count weight_ = 1;
};

}  // namespace summarkov
