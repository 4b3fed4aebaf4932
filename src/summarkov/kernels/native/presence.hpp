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

    void add(std::uint64_t row, std::int64_t outcome, Count weight) {
        if (sparse_) {
            const auto [found, is_new] = row_of_.try_emplace(row, static_cast<std::int64_t>(patterns_.size()));
            if (is_new) {
                patterns_.push_back(row);
                counts_.resize(counts_.size() + outcomes_, 0);
            }
            row = static_cast<std::uint64_t>(found->second);
        }
        counts_[row * outcomes_ + outcome] += weight;
    }

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
    Span<std::int32_t> outcome_of;  // [target][label]; the last label is "not known"
    Span<std::int64_t> n_outcomes;
    Span<std::int64_t> ends;        // the last position, from 1 on, of each stratum but the last
    Position delay;
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

inline std::vector<PresenceTable> count_presence(const PresenceEvents& events, const PresenceAsked& asked) {
    constexpr Position ABSENT = -((Position{1} << 62) + (Position{1} << 61));  // out of reach of every look-back
    const std::int64_t n_targets = asked.n_outcomes.size, n_strata = asked.ends.size + 1;
    std::vector<PresenceTable> tables;
    for (std::int64_t t = 0; t < n_targets; ++t)
        tables.emplace_back(asked.starts[t + 1] - asked.starts[t], n_strata, asked.n_outcomes[t]);
    std::vector<Position> last(events.n_labels, ABSENT);  // each label's last occurrence in the window's reach
    const auto enter = [&](std::int32_t z, Position j) { if (z >= 0) last[z] = j; };
    std::int64_t past = 0;
    for (std::int64_t s = 0; s + 1 < events.offsets.size; ++s) {
        const Position start = events.offsets[s], stop = events.offsets[s + 1];
        const Position before = s ? 0 : events.begun;
        const Count weight = events.weights.data ? events.weights[s] : 1;
        std::int64_t stratum = 0;
        for (Position i = start; i < stop; ++i) {
            if (!s)
                for (; past < events.past_codes.size && events.past_positions[past] + asked.delay < i; ++past)
                    enter(events.past_codes[past], events.past_positions[past]);
            if (i - asked.delay - 1 >= start) enter(events.codes[i - asked.delay - 1], i - asked.delay - 1);
            const Position place = before + i - start + 1;
            while (stratum + 1 < n_strata && place > asked.ends[stratum]) ++stratum;
            if (!weight) continue;
            const std::int64_t code = events.codes[i] < 0 ? events.n_labels : events.codes[i];
            const std::int32_t* z = asked.influencers.begin();
            const std::int64_t* lookback = asked.lookbacks.begin();
            const std::int32_t* outcome = asked.outcome_of.begin() + code;
            for (auto& table : tables) {
                auto row = static_cast<std::uint64_t>(stratum);
                for (const auto* stop_at = z + table.width(); z < stop_at; ++z, ++lookback)
                    row = row << 1 | (i - last[*z] <= *lookback);
                table.add(row, *outcome, weight);
                outcome += events.n_labels + 1;
            }
        }
        for (Position i = start; i < stop; ++i) enter(events.codes[i], ABSENT);
        if (!s)
            for (auto z : events.past_codes) enter(z, ABSENT);
    }
    return tables;
}

}  // namespace summarkov
