// What many targets follow: counts by presence of their influencers and by strata of positions, in one scan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index.hpp"

namespace summarkov {

// Counts of one target; a row is a stratum of positions with a pattern of presence, a bit for each influencer.
class PresenceTable {
  public:
    PresenceTable(std::int64_t width, std::int64_t strata, std::int64_t outcomes)
        : width_(width), outcomes_(outcomes) {
        if (width <= 10) counts_.assign((strata << width) * outcomes, 0);
        else sparse_ = true;
    }

    std::int64_t width() const { return width_; }

    // The counts of a row, one for each outcome.
    Count* at(std::uint64_t row) {
        if (sparse_) {
            const auto [found, is_new] = row_of_.try_emplace(row, static_cast<std::int64_t>(patterns_.size()));
            if (is_new) {
                patterns_.push_back(row);
                counts_.resize(counts_.size() + outcomes_, 0);
            }
            row = static_cast<std::uint64_t>(found->second);
        }
        return counts_.data() + row * outcomes_;
    }

    std::int64_t residual() const { return outcomes_ - 1; }

    // The rows that are not empty, in order, as (stratum << width | pattern), and where their counts begin.
    std::vector<std::pair<std::uint64_t, const Count*>> rows() const {
        std::vector<std::pair<std::uint64_t, const Count*>> found;
        const std::int64_t n = static_cast<std::int64_t>(counts_.size()) / outcomes_;
        for (std::int64_t row = 0; row < n; ++row) {
            const Count* here = counts_.data() + row * outcomes_;
            if (std::any_of(here, here + outcomes_, [](Count c) { return c != 0; }))
                found.emplace_back(sparse_ ? patterns_[row] : static_cast<std::uint64_t>(row), here);
        }
        std::sort(found.begin(), found.end());
        return found;
    }

  private:
    std::int64_t width_, outcomes_;
    bool sparse_ = false;
    std::vector<Count> counts_;
    std::vector<std::uint64_t> patterns_;
    std::unordered_map<std::uint64_t, std::int64_t> row_of_;
};

// The influencers of target t are those from starts[t] to starts[t + 1], each with its look-back.
struct PresenceAsked {
    Span<std::int32_t> influencers;
    Span<std::int64_t> lookbacks;
    Span<std::int64_t> starts;
    Span<std::int32_t> labels;      // of the outcomes but the residual one, which is the last
    Span<std::int64_t> labels_starts;  // those of target t are from here on
    Span<std::int64_t> ends;        // the last position, from 1 on, of each stratum but the last
    Position delay;

    std::int64_t n_targets() const { return starts.size - 1; }
    std::int64_t n_outcomes(std::int64_t t) const { return labels_starts[t + 1] - labels_starts[t] + 1; }
};

struct PresenceEvents {
    Span<std::int32_t> codes;
    Span<std::int64_t> offsets;
    Span<std::int64_t> past_positions;
    Span<std::int32_t> past_codes;
    std::int64_t n_labels;
    std::int64_t begun;             // events of the first sequence before it
    Span<std::int64_t> weights;     // one for each sequence; empty: all ones
};

// Follows the windows of all influencers at once. The pattern of a target changes only where an influencer comes
// into its window or leaves it; until then its positions are one run, all of the residual outcome but for hits.
class PresenceScan {
  public:
    PresenceScan(const PresenceEvents& events, const PresenceAsked& asked)
        : events_(events), asked_(asked), last_(events.n_labels, ABSENT), hits_(events.n_labels) {
        for (auto k : asked.lookbacks)
            if (k < FAR) reaches_.push_back(k);
        std::sort(reaches_.begin(), reaches_.end());
        reaches_.erase(std::unique(reaches_.begin(), reaches_.end()), reaches_.end());
        reaches_.push_back(FAR);
        bits_.resize(reaches_.size() * events.n_labels);
        for (std::int64_t t = 0; t < asked.n_targets(); ++t) {
            const std::int64_t width = asked.starts[t + 1] - asked.starts[t];
            tables.emplace_back(width, asked.ends.size + 1, asked.n_outcomes(t));
            runs_.push_back({0, 0});
            for (std::int64_t u = 0; u < width; ++u) {
                const std::int64_t at = asked.starts[t] + u;
                bits(asked.influencers[at], reach_of(asked.lookbacks[at])).push_back({t, std::uint64_t{1} << (width - 1 - u)});
            }
            for (std::int64_t x = 0; x + 1 < asked.n_outcomes(t); ++x)
                hits_[asked.labels[asked.labels_starts[t] + x]].push_back({t, x});
        }
    }

    void run() {
        for (sequence_ = 0; sequence_ + 1 < events_.offsets.size; ++sequence_) {
            weight_ = events_.weights.data ? events_.weights[sequence_] : 1;
            if (weight_) follow(events_.offsets[sequence_], events_.offsets[sequence_ + 1]);
        }
    }

    std::vector<PresenceTable> tables;

  private:
    static constexpr Position FAR = Position{1} << 62;
    static constexpr Position ABSENT = -(FAR + (FAR >> 1));  // out of reach of every look-back

    struct Bit { std::int64_t target; std::uint64_t mask; };
    struct Hit { std::int64_t target, outcome; };
    struct Run { std::uint64_t pattern; Position begin; };

    std::size_t reach_of(Position k) const {
        return std::lower_bound(reaches_.begin(), reaches_.end(), std::min(k, FAR)) - reaches_.begin();
    }
    std::vector<Bit>& bits(std::int32_t z, std::size_t reach) { return bits_[z * reaches_.size() + reach]; }

    void follow(Position start, Position stop) {
        const bool is_first = sequence_ == 0;
        const Position before = is_first ? events_.begun : 0;
        std::int64_t past = 0;
        std::vector<std::int64_t> leaving(reaches_.size(), 0);  // places in the past, one for each look-back
        stratum_ = 0;
        for (auto& run : runs_) run = {0, start};
        for (Position i = start; i < stop; ++i) {
            const Position place = before + i - start + 1;
            if (stratum_ < asked_.ends.size && place > asked_.ends[stratum_]) {
                for (std::size_t t = 0; t < runs_.size(); ++t) close(t, i);
                while (stratum_ < asked_.ends.size && place > asked_.ends[stratum_]) ++stratum_;
            }
            if (is_first)
                for (; past < events_.past_codes.size && events_.past_positions[past] + asked_.delay < i; ++past)
                    enter(events_.past_codes[past], events_.past_positions[past], i);
            const Position coming = i - asked_.delay - 1;
            if (coming >= start) enter(events_.codes[coming], coming, i);
            for (std::size_t r = 0; r + 1 < reaches_.size(); ++r) {
                const Position gone = i - reaches_[r] - 1;
                if (gone >= start) {
                    leave(events_.codes[gone], gone, r, i);
                } else if (is_first) {
                    auto& at = leaving[r];
                    for (; at < events_.past_codes.size && events_.past_positions[at] <= gone; ++at)
                        leave(events_.past_codes[at], events_.past_positions[at], r, i);
                }
            }
            if (events_.codes[i] < 0) continue;
            for (const auto& hit : hits_[events_.codes[i]]) {
                Count* counts = row(hit.target);
                counts[hit.outcome] += weight_;
                counts[tables[hit.target].residual()] -= weight_;
            }
        }
        for (std::size_t t = 0; t < runs_.size(); ++t) close(t, stop);
    }

    Count* row(std::int64_t target) {
        auto& table = tables[target];
        return table.at(static_cast<std::uint64_t>(stratum_) << table.width() | runs_[target].pattern);
    }

    // Count the run of a target up to before position `i`.
    void close(std::size_t target, Position i) {
        auto& run = runs_[target];
        if (i > run.begin) row(target)[tables[target].residual()] += weight_ * (i - run.begin);
        run.begin = i;
    }

    // Label z, which stands at j, comes into all windows of position `i` that reach as far.
    void enter(std::int32_t z, Position j, Position i) {
        if (z < 0) return;
        last_[z] = j;
        for (std::size_t r = 0; r < reaches_.size(); ++r)
            if (i - j <= reaches_[r])
                for (const auto& bit : bits(z, r)) change(bit, true, i);
    }

    // What stands at j leaves the windows of one look-back, unless the label came again.
    void leave(std::int32_t z, Position j, std::size_t reach, Position i) {
        if (z >= 0 && last_[z] == j)
            for (const auto& bit : bits(z, reach)) change(bit, false, i);
    }

    void change(const Bit& bit, bool is_present, Position i) {
        auto& run = runs_[bit.target];
        if (((run.pattern & bit.mask) != 0) == is_present) return;
        close(bit.target, i);
        run.pattern ^= bit.mask;
    }

    const PresenceEvents& events_;
    const PresenceAsked& asked_;
    std::vector<Position> last_;           // each label's last occurrence that came into windows, of any sequence
    std::vector<Position> reaches_;        // the different look-backs, the unlimited one last
    std::vector<std::vector<Bit>> bits_;   // for each label and look-back
    std::vector<std::vector<Hit>> hits_;   // for each label
    std::vector<Run> runs_;                // the current run of each target
    std::int64_t sequence_ = 0, stratum_ = 0;
    Count weight_ = 1;
};

}  // namespace summarkov
