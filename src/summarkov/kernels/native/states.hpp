// The states of some influencers over time, as runs of positions that share one.
#pragma once

#include <cstring>
#include <string>
#include <unordered_map>

#include "index.hpp"

namespace summarkov {

struct Run {
    std::int32_t begin, end;  // positions begin .. end - 1
    std::int32_t state;
    std::int32_t sequence;
};

// Runs in which at least one influencer is present (or a given one is), in order; every other position is in
// state 0, "rest".
struct States {
    std::int64_t width = 0;                // influencers
    std::vector<Run> runs;
    std::vector<std::int32_t> stands;      // ordinal: for each run, where each influencer stands (or ABSENT)
    std::vector<std::int32_t> keys;        // a row of levels a state; state 0 is all zeros
    std::int64_t size() const { return width ? static_cast<std::int64_t>(keys.size()) / width : 1; }

    static constexpr std::int32_t ABSENT = INT32_MIN;

    // Where each state stands once they are in lexicographic order of their keys.
    std::vector<std::int64_t> ranking() const {
        std::vector<std::int64_t> by_key(size());
        for (std::int64_t s = 0; s < size(); ++s) by_key[s] = s;
        std::sort(by_key.begin(), by_key.end(), [&](std::int64_t a, std::int64_t b) {
            const auto* key = keys.data();
            return std::lexicographical_compare(key + a * width, key + (a + 1) * width, key + b * width,
                                                key + (b + 1) * width);
        });
        std::vector<std::int64_t> rank(size());
        for (std::int64_t r = 0; r < size(); ++r) rank[by_key[r]] = r;
        return rank;
    }
};

// Numbers keys in the order in which they are met; a plain table where there are few possible ones.
class StateIds {
  public:
    StateIds(std::int64_t width, std::int64_t levels, States& states) : levels_(levels), states_(states) {
        states_.keys.assign(width, 0);
        double possible = 1;
        for (std::int64_t u = 0; u < width; ++u) possible *= static_cast<double>(levels);
        if (possible <= 1 << 16) table_.assign(static_cast<std::size_t>(possible), -1);
        if (!table_.empty()) table_[0] = 0;
        else by_text_.emplace(text(states_.keys.data()), 0);
    }

    std::int32_t id(const std::int32_t* key) {
        if (!table_.empty()) {
            std::int64_t at = 0;
            for (std::int64_t u = 0; u < states_.width; ++u) at = at * levels_ + key[u];
            if (table_[at] < 0) table_[at] = add(key);
            return table_[at];
        }
        auto [where, is_new] = by_text_.try_emplace(text(key), 0);
        if (is_new) where->second = add(key);
        return where->second;
    }

  private:
    std::int32_t add(const std::int32_t* key) {
        states_.keys.insert(states_.keys.end(), key, key + states_.width);
        return static_cast<std::int32_t>(states_.size() - 1);
    }
    std::string text(const std::int32_t* key) const {
        return {reinterpret_cast<const char*>(key), sizeof(std::int32_t) * static_cast<std::size_t>(states_.width)};
    }

    std::int64_t levels_;
    States& states_;
    std::vector<std::int32_t> table_;
    std::unordered_map<std::string, std::int32_t> by_text_;
};

// Follow the influencers' occurrences. Influencer u's occurrences in the window of position i are those from
// `leaving` to `entering` in its list; they change only where one of them comes into the window or leaves it.
// `given` is the place of an influencer that must be present, or -1: then only sequences that have it are followed.
template <class Rows>
States follow_states(const Rows& rows, Span<std::int32_t> influencers, std::int64_t given = -1) {
    const Index& index = rows.index;
    const Window& window = rows.window;
    struct Follower {
        std::int64_t leaving, entering, stop, end;  // stop: end of this sequence's occurrences; end: of all
        std::int32_t label;
    };
    States states;
    states.width = influencers.size;
    if (!states.width) return states;
    StateIds ids(states.width, window.levels(states.width - 1), states);
    std::vector<Follower> followers;
    for (auto z : influencers)
        followers.push_back({index.starts[z], index.starts[z], index.starts[z], index.starts[z + 1], z});
    std::vector<std::int32_t> key(states.width), stands(states.width);
    const auto& at = index.order;

    for (std::int64_t sequence = 0;;) {
        Position nearest = index.codes.size;  // the next occurrence of any influencer
        bool any = false;
        for (std::int64_t u = 0; u < states.width; ++u)
            if (const auto& f = followers[u]; f.stop < f.end && (given < 0 || u == given))
                any = true, nearest = std::min<Position>(nearest, at[f.stop]);
        if (!any) break;
        sequence = index.sequence_of(nearest, sequence);
        const Position start = index.offsets[sequence], stop = index.offsets[sequence + 1];
        for (auto& f : followers) {
            while (sequence > 0 && f.stop < f.end && at[f.stop] < start) ++f.stop;
            f.leaving = f.entering = f.stop;
            while (f.stop < f.end && at[f.stop] < stop) ++f.stop;
        }
        for (Position i = start; i < stop;) {
            Position next = stop;
            bool present = false;
            for (std::int64_t u = 0; u < states.width; ++u) {
                auto& f = followers[u];
                while (f.entering < f.stop && rows.begin(at[f.entering]) <= i) ++f.entering;
                while (f.leaving < f.entering && rows.end(f.label, at[f.leaving]) < i) ++f.leaving;
                if (f.entering < f.stop) next = std::min(next, rows.begin(at[f.entering]));
                const std::int64_t n = f.entering - f.leaving;
                if (n) next = std::min(next, rows.end(f.label, at[f.leaving]) + 1);
                present |= n > 0;
                key[u] = static_cast<std::int32_t>(window.kind == COUNT ? std::min(n, window.cap) : n > 0);
                if (window.ordinal())
                    stands[u] = !n ? States::ABSENT : at[window.kind == ORDINAL_LAST ? f.entering - 1 : f.leaving];
            }
            if (given >= 0) {
                const auto& f = followers[given];
                present = f.entering > f.leaving;
                if (!present) next = f.entering < f.stop ? std::min(stop, rows.begin(at[f.entering])) : stop;
            }
            if (present) {
                if (window.ordinal())
                    for (std::int64_t u = 0; u < states.width; ++u) {
                        if (stands[u] == States::ABSENT) continue;
                        key[u] = 1;
                        for (auto other : stands) key[u] += other != States::ABSENT && other < stands[u];
                    }
                const std::int32_t id = ids.id(key.data());
                // An influencer's return can change where a candidate stands in the order even if the
                // state stays, so only runs of other summaries may be joined.
                if (!window.ordinal() && !states.runs.empty() && states.runs.back().end == i &&
                    states.runs.back().state == id && states.runs.back().sequence == sequence) {
                    states.runs.back().end = static_cast<std::int32_t>(next);
                } else {
                    states.runs.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(next), id,
                                           static_cast<std::int32_t>(sequence)});
                    if (window.ordinal()) states.stands.insert(states.stands.end(), stands.begin(), stands.end());
                }
            }
            i = next;
        }
    }
    return states;
}

}  // namespace summarkov
