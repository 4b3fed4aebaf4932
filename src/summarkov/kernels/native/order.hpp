// What an edge is compared with: the same sequences, its influencer's events moved against all the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "index.hpp"
#include "resampling.hpp"

namespace summarkov {

// Whole sequences. Events stand at ticks, which are numbered through all sequences; rows are in their order.
struct Ticked {
    Span<std::int32_t> codes;       // of each row, -1 for no known label
    Span<std::int64_t> tick;        // of each row
    Span<std::int64_t> bounds;      // the first tick of each sequence, and the number of all
    Span<std::int64_t> times;       // of each tick; empty: none
    Span<std::int64_t> stratum;     // of each tick: how far from the start it is
    Span<std::int64_t> cuts;        // where blocks begin, and the number of all ticks; no block is in two sequences
    Span<std::uint64_t> seeds;      // of each block
    Span<std::int64_t> weights;     // of each sequence; empty: all ones
    Span<std::int32_t> held;        // attributes, and the sequence that has each
    Span<std::int64_t> held_by;
    const bool* stays;              // for each label whether its rows keep their places
    std::int64_t n_labels;
    bool together;                  // whether events may happen together: then none displaces another

    std::int64_t n_ticks() const { return bounds[bounds.size - 1]; }
    Count weight(std::int64_t sequence) const { return weights.data ? weights[sequence] : 1; }
};

// How far a label reaches: positions, or a time in units of `times`.
struct OrderReach {
    std::int64_t size;
    bool in_time;
};

// An edge. The labels of its strata come with their look-backs.
struct OrderEdge {
    std::int32_t influencer, target;
    OrderReach reach, delay;
    Span<std::int32_t> strata;
    std::vector<OrderReach> reaches;
    Span<std::int32_t> left_out;
    bool only;  // whether nothing but rows that stay is counted
};

// Counts by stratum: positions; then of each replicate positions and hits with the influencer, and all hits.
struct OrderTable {
    std::vector<std::uint64_t> keys;
    std::vector<Count> counts;
    Count influencers = 0, in_one_block = 0;  // events of the influencer, and those in sequences of one block
};

class OrderCount {
  public:
    OrderCount(const Ticked& events, const OrderEdge& edge, Span<std::int64_t> replicates)
        : events_(events), edge_(edge), replicates_(replicates), width_(1 + 3 * replicates.size),
          fixed_(edge.target == edge.influencer || events.stays[edge.target]), strata_of_(events.n_labels, -1),
          left_out_(events.n_labels, 0), what_of_(events.n_labels + 1), row_at_(AT_HAND, -1) {
        for (std::int64_t code = -1; code < events.n_labels; ++code)
            what_of_[code + 1] = random_number(static_cast<std::uint64_t>(code + 2), 1);
        for (std::int64_t u = 0; u < edge.strata.size; ++u) strata_of_[edge.strata[u]] = static_cast<std::int32_t>(u);
        for (auto x : edge.left_out) left_out_[x] = 1;
    }

    OrderTable run() {
        const std::int64_t n_sequences = events_.bounds.size - 1;
        for (std::int64_t last = 0; last < n_sequences;) {  // some sequences at a time, which fit into a cache
            first_ = last++;
            while (last < n_sequences && events_.bounds[last + 1] - events_.bounds[first_] <= TICKS) ++last;
            place(last);
            if (fixed_) scatter();
            else rotate();
        }
        if (!fixed_)
            for (std::size_t row = 0; row < table_.keys.size(); ++row)
                for (std::int64_t b = 1; b < replicates_.size; ++b)
                    cell(static_cast<std::int32_t>(row), b, 2) = cell(static_cast<std::int32_t>(row), 0, 2);
        return std::move(table_);
    }

  private:
    static constexpr std::int64_t AT_HAND = 1 << 12;  // elements that fit into the nearest cache, with what they need

    static constexpr std::int64_t AT_ONCE = 4, TICKS = 1 << 15;

    // A position: a tick that holds something other than the influencer (unless the influencer is what moves).
    struct Element {
        std::int64_t tick, sequence;
        std::uint64_t what;              // the same for the same labels
        std::uint64_t pattern = 0;       // which labels of the strata are in the window
        std::int32_t code = -1;          // its label, if that is one
        bool hit = false, out = false, stays = false, influencer = false, with = false, alike = true;
    };

    // The positions, what each holds, and what is in the window of each.
    void place(std::int64_t last) {
        const std::int64_t base = events_.bounds[first_];
        std::vector<std::vector<std::int64_t>> occurrences(edge_.strata.size);
        std::vector<std::int64_t> moving;  // ticks of the influencer
        std::vector<std::int64_t> at;      // the element of each tick, or -1
        if (!fixed_) at.assign(events_.bounds[last] - base, -1);
        elements_.clear();
        starts_.assign(1, 0);
        auto& row = row_;
        auto& block = begun_;
        for (std::int64_t s = first_; s < last; ++s) {
            std::int64_t blocks = 0, here = 0;
            for (std::int64_t t = events_.bounds[s]; t < events_.bounds[s + 1]; ++t) {
                if (block < events_.seeds.size && events_.cuts[block] == t) ++block, ++blocks;
                Element element{t, s, 0};
                bool any = false;
                const std::int64_t number = static_cast<std::int64_t>(elements_.size());
                for (; row < events_.codes.size && events_.tick[row] == t; ++row) {
                    const std::int32_t code = events_.codes[row];
                    if (code >= 0 && code == edge_.influencer) {
                        moving.push_back(t);
                        ++here;
                        element.influencer = true;
                        if (!fixed_) continue;
                    }
                    if (code >= 0 && events_.stays[code]) {
                        if (!fixed_) continue;
                        element.stays = true;
                    }
                    any = true;
                    element.code = code;
                    element.what += what_of_[code + 1];
                    if (code < 0) continue;
                    if (code == edge_.target) element.hit = true;
                    if (left_out_[code]) element.out = true;
                    if (strata_of_[code] >= 0) occurrences[strata_of_[code]].push_back(number);
                }
                if (!any) continue;
                element.out = (element.out && !element.hit) || (edge_.only && !element.stays);
                if (!fixed_) at[t - base] = number;
                elements_.push_back(element);
            }
            starts_.push_back(static_cast<std::int64_t>(elements_.size()));
            const Count weight = events_.weight(s);
            table_.influencers += weight * here;
            if (blocks <= 2) table_.in_one_block += weight * here;  // the first position is a block of its own
        }
        for (std::int64_t u = 0; u < edge_.strata.size; ++u)
            mark(occurrences[u], edge_.reaches[u], [&](std::int64_t e) { elements_[e].pattern |= std::uint64_t{1} << u; });
        for (std::int64_t i = 0; i < events_.held.size; ++i) {
            const std::int32_t u = strata_of_[events_.held[i]];
            const std::int64_t by = events_.held_by[i] - first_;
            if (u < 0 || by < 0 || by >= last - first_) continue;
            for (std::int64_t e = starts_[by]; e < starts_[by + 1]; ++e)
                elements_[e].pattern |= std::uint64_t{1} << u;
        }
        if (fixed_) return;
        compare();
        std::int64_t s = first_, begin = 0, end = -1, done = 0;
        for (auto j : moving) {
            while (events_.bounds[s + 1] <= j) ++s;
            stretch(j, events_.bounds[s + 1], edge_.reach, [&](std::int64_t t) { return events_.times[t]; }, begin, end);
            for (done = std::max(done, begin); done <= end; ++done)
                if (at[done - base] >= 0) elements_[at[done - base]].with = true;
        }
    }

    // Which elements stand in their window, or not, just as the last label of the strata does.
    void compare() {
        const std::int64_t n = static_cast<std::int64_t>(elements_.size()), last = edge_.strata.size - 1;
        if (events_.together || last < 0) return;
        std::vector<char> known(n, 0);
        const OrderReach reach = edge_.reaches[last];
        if (edge_.delay.size == 0) {  // the last element of the same label tells
            std::vector<std::int64_t> last_of(events_.n_labels + 1, -1);
            for (std::int64_t e = 0; e < n; ++e) {
                std::int64_t& before = last_of[elements_[e].code + 1];
                if (before >= starts_[elements_[e].sequence - first_]) {
                    const auto place = [&](std::int64_t i) { return reach.in_time ? events_.times[elements_[i].tick] : i; };
                    known[e] = place(e) - place(before) <= reach.size;
                }
                before = e;
            }
        } else {
            std::vector<std::vector<std::int64_t>> of_label(events_.n_labels + 1);
            for (std::int64_t e = 0; e < n; ++e) of_label[elements_[e].code + 1].push_back(e);
            for (const auto& some : of_label)
                mark(some, reach, [&](std::int64_t e) {
                    if (elements_[e].code == elements_[some[0]].code) known[e] = 1;
                });
        }
        for (std::int64_t e = 0; e < n; ++e) elements_[e].alike = (elements_[e].pattern >> last & 1) == std::uint64_t(known[e]);
    }

    // From `begin` to `end` number j, of a sequence that ends before `stop`, is in windows; both only grow with j.
    template <class Time>
    void stretch(std::int64_t j, std::int64_t stop, OrderReach reach, Time time, std::int64_t& begin,
                 std::int64_t& end) const {
        if (edge_.delay.in_time) {
            begin = std::max(begin, j + 1);
            while (begin < stop && time(begin) - time(j) <= edge_.delay.size) ++begin;
        } else begin = std::min(edge_.delay.size, stop - j) + j + 1;
        if (reach.in_time) {
            end = std::max(end, j);
            while (end + 1 < stop && time(end + 1) - time(j) <= reach.size) ++end;
        } else end = j + std::min(reach.size, stop - 1 - j);
    }

    // Visit the elements in whose window one of some elements is.
    template <class Visit>
    void mark(const std::vector<std::int64_t>& some, OrderReach reach, Visit visit) const {
        std::int64_t begin = 0, end = -1, done = 0;
        for (auto j : some) {
            stretch(j, starts_[elements_[j].sequence - first_ + 1], reach,
                    [&](std::int64_t e) { return events_.times[elements_[e].tick]; }, begin, end);
            for (done = std::max(done, begin); done <= end; ++done) visit(done);
        }
    }

    // The row of the stratum of an element.
    std::int32_t stratum(const Element& element) {
        const std::uint64_t key =
            (static_cast<std::uint64_t>(events_.stratum[element.tick]) << 1 | element.alike) << edge_.strata.size | element.pattern;
        std::int32_t& row = key < row_at_.size() ? row_at_[key] : row_of_.try_emplace(key, -1).first->second;
        if (row < 0) {
            row = static_cast<std::int32_t>(table_.keys.size());
            table_.keys.push_back(key);
            table_.counts.resize(table_.counts.size() + width_, 0);
        }
        return row;
    }

    Count& cell(std::int32_t row, std::int64_t replicate, std::int64_t what) {
        return table_.counts[row * width_ + 1 + 3 * replicate + what];
    }

    // The other events turn inside of blocks, against those of the influencer, which stay. Of them those count
    // that differ from the one before (unless events happen together), and come neither after the target nor
    // after what is left out.
    void rotate() {
        struct Block { std::int64_t begin, size, slots, n_slots; std::uint64_t seed; Count weight; };
        std::vector<std::int32_t> cells;   // of each element that turns: twice its stratum, one more for a hit; or -1
        std::vector<std::int32_t> slots;   // places in their block with the influencer in the window
        std::vector<Block> blocks;
        std::int64_t block = turned_;
        bool is_new = true;
        auto close = [&] {
            if (is_new || blocks.empty()) return;
            auto& last = blocks.back();
            last.size = static_cast<std::int64_t>(cells.size()) - last.begin;
            last.n_slots = static_cast<std::int64_t>(slots.size()) - last.slots;
            if (last.n_slots) return;
            cells.resize(last.begin);
            blocks.pop_back();
        };
        for (std::int64_t s = 0; s + 1 < static_cast<std::int64_t>(starts_.size()); ++s) {
            const Count weight = events_.weight(first_ + s);
            for (std::int64_t e = starts_[s]; e < starts_[s + 1]; ++e) {
                const Element& element = elements_[e];
                while (block + 1 < events_.seeds.size && events_.cuts[block + 1] <= element.tick) {
                    close();
                    is_new = true;
                    ++block;
                }
                if (!events_.together && e > starts_[s] && elements_[e - 1].what == element.what) continue;
                if (is_new) {
                    blocks.push_back({static_cast<std::int64_t>(cells.size()), 0, static_cast<std::int64_t>(slots.size()),
                                      0, events_.seeds[block], weight});
                    is_new = false;
                }
                if (element.with) slots.push_back(static_cast<std::int32_t>(cells.size() - blocks.back().begin));
                if (element.out || (e > starts_[s] && (elements_[e - 1].hit || elements_[e - 1].out))) {
                    cells.push_back(-1);
                    continue;
                }
                const std::int32_t row = stratum(element);
                table_.counts[row * width_] += weight;
                if (element.hit) cell(row, 0, 2) += weight;
                cells.push_back(2 * row + element.hit);
            }
        }
        close();
        turned_ = block;
        const std::int64_t n_rows = static_cast<std::int64_t>(table_.keys.size()), width = 2 * n_rows + 1;
        std::vector<Count> counts(replicates_.size * AT_ONCE * width, 0);  // several, not to wait for each other
        // Some blocks at a time in all replicates, while they are at hand.
        for (std::size_t first = 0, last = 0; first < blocks.size(); first = last) {
            while (last < blocks.size() && blocks[last].begin - blocks[first].begin < AT_HAND) ++last;
            for (std::int64_t b = 0; b < replicates_.size; ++b) {
                const auto replicate = static_cast<std::uint64_t>(replicates_[b]);
                Count* to = counts.data() + b * AT_ONCE * width + 1;
                for (auto one = blocks.data() + first; one < blocks.data() + last; ++one) {
                    const std::int32_t* from = cells.data() + one->begin;
                    const std::int32_t* slot = slots.data() + one->slots;
                    const Count weight = one->weight;
                    const std::int64_t turn = replicate ? random_below(one->seed, replicate, one->size) : 0;
                    const auto met = [&](std::int64_t i) {
                        const std::int64_t at = slot[i] + turn;
                        return from[at < one->size ? at : at - one->size];
                    };
                    std::int64_t i = 0;
                    for (; i + AT_ONCE <= one->n_slots; i += AT_ONCE)
                        for (std::int64_t k = 0; k < AT_ONCE; ++k) to[k * width + met(i + k)] += weight;
                    for (; i < one->n_slots; ++i) to[(i % AT_ONCE) * width + met(i)] += weight;
                }
            }
        }
        for (std::int64_t b = 0; b < replicates_.size; ++b)
            for (std::int64_t row = 0; row < n_rows; ++row) {
                const auto r = static_cast<std::int32_t>(row);
                for (std::int64_t k = 0; k < AT_ONCE; ++k) {
                    const Count* from = counts.data() + (b * AT_ONCE + k) * width + 1 + 2 * row;
                    cell(r, b, 0) += from[0] + from[1];
                    cell(r, b, 1) += from[1];
                }
            }
    }

    // The target is the influencer itself, or stays in place: the influencer's events are scattered inside of
    // blocks, over all places of events that do not stay.
    void scatter() {
        const bool itself = edge_.target == edge_.influencer;
        struct Block { std::int64_t begin, size, n; std::uint64_t seed; };
        std::vector<std::int64_t> places;  // elements that events may move to, those of the influencer first in each block
        std::vector<Block> blocks;
        std::vector<std::int32_t> rows(elements_.size());
        std::int64_t block = turned_, e = 0;
        const std::int64_t n = static_cast<std::int64_t>(elements_.size());
        while (e < n) {
            while (block + 1 < events_.seeds.size && events_.cuts[block + 1] <= elements_[e].tick) ++block;
            const std::int64_t stop = events_.cuts[block + 1], begin = static_cast<std::int64_t>(places.size());
            const std::int64_t first = e;
            for (; e < n && elements_[e].tick < stop; ++e) {
                const Element& element = elements_[e];
                rows[e] = element.out ? -1 : stratum(element);
                if (rows[e] >= 0) table_.counts[rows[e] * width_] += events_.weight(element.sequence);
                if (element.influencer) places.push_back(e);
            }
            const std::int64_t moved = static_cast<std::int64_t>(places.size()) - begin;
            if (!moved) continue;
            for (std::int64_t other = first; other < e; ++other)
                if (!elements_[other].influencer && !elements_[other].stays && !(itself && elements_[other].out))
                    places.push_back(other);
            blocks.push_back({begin, static_cast<std::int64_t>(places.size()) - begin, moved, events_.seeds[block]});
        }
        turned_ = block;
        const auto weigh = [&](std::int64_t at) {
            return events_.weights.data ? events_.weights[elements_[at].sequence] : Count{1};
        };
        std::vector<std::int32_t> seen(elements_.size(), -1);
        std::vector<std::int64_t> hits, chosen, mixed;
        for (std::int64_t at = 0; at < n; ++at)
            if (elements_[at].hit) hits.push_back(at);
        std::vector<Count> counts(3 * table_.keys.size());  // of one replicate, close together
        for (std::int64_t b = 0; b < replicates_.size; ++b) {
            const std::uint64_t replicate = static_cast<std::uint64_t>(replicates_[b]);
            chosen.clear();
            std::fill(counts.begin(), counts.end(), 0);
            for (const auto& one : blocks) {
                const std::int64_t* from = places.data() + one.begin;
                const auto before = static_cast<std::ptrdiff_t>(chosen.size());
                if (!replicate) chosen.insert(chosen.end(), from, from + one.n);
                else {
                    mixed.assign(from, from + one.size);
                    const std::uint64_t seed = random_number(one.seed, replicate);
                    for (std::int64_t i = 0; i < one.n; ++i) {
                        std::swap(mixed[i], mixed[i + random_below(seed, static_cast<std::uint64_t>(i + 1), one.size - i)]);
                        chosen.push_back(mixed[i]);
                    }
                    std::sort(chosen.begin() + before, chosen.end());
                }
            }
            mark(chosen, edge_.reach, [&](std::int64_t at) {
                seen[at] = static_cast<std::int32_t>(b);
                if (rows[at] < 0) return;
                counts[3 * rows[at]] += weigh(at);
            });
            for (auto at : itself ? chosen : hits) {
                if (rows[at] < 0) continue;
                counts[3 * rows[at] + 2] += weigh(at);
                if (seen[at] == b) counts[3 * rows[at] + 1] += weigh(at);
            }
            for (std::size_t row = 0; row < table_.keys.size(); ++row)
                for (std::int64_t what = 0; what < 3; ++what)
                    cell(static_cast<std::int32_t>(row), b, what) += counts[3 * row + what];
        }
    }

    const Ticked& events_;
    const OrderEdge& edge_;
    Span<std::int64_t> replicates_;
    std::int64_t width_;
    bool fixed_;
    std::vector<std::int32_t> strata_of_;
    std::vector<char> left_out_;
    std::int64_t first_ = 0, row_ = 0, begun_ = 0, turned_ = -1;  // the first sequence at hand; rows and blocks so far
    std::vector<Element> elements_;
    std::vector<std::int64_t> starts_;  // the first element of each sequence, and the number of all
    std::vector<std::uint64_t> what_of_;  // of each label, and before them of none
    std::vector<std::int32_t> row_at_;    // of small keys, or -1
    std::unordered_map<std::uint64_t, std::int32_t> row_of_;  // of the others
    OrderTable table_;
};

}  // namespace summarkov
