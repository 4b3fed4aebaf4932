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
    Span<std::uint8_t> stratum;     // of each tick: how far from the start it is
    Span<std::int64_t> cuts;        // where blocks begin, and the number of all ticks; no block is in two sequences
    Span<std::uint64_t> seeds;      // of each block
    Span<std::int64_t> weights;     // of each sequence; empty: all ones
    Span<std::int32_t> held;        // attributes, and the sequence that has each
    Span<std::int64_t> held_by;
    const bool* stays;              // for each label whether its rows keep their places
    std::int64_t n_labels;
    bool together;                  // whether events may happen together: then none displaces another

    bool is_plain() const { return codes.size == bounds[bounds.size - 1]; }  // whether every row has a tick
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
    std::uint64_t part;  // sequences are left out whose seed, without its last 32 bits, is not less
    std::uint64_t base;  // of blocks, or sequences, that have nothing to do with the influencer those are counted with a lesser one
};

// Counts by stratum: positions; then of each replicate positions and hits with the influencer, and all hits; then
// positions and hits that have nothing to do with the influencer.
struct OrderTable {
    std::int64_t width;  // counts of each stratum
    std::vector<std::uint64_t> keys;
    std::vector<Count> counts;
    Count influencers = 0, in_one_block = 0;  // events of the influencer, and those in sequences of one block
};

class OrderCount {
  public:
    // `occurrences` are the rows of the influencer.
    OrderCount(const Ticked& events, const OrderEdge& edge, const std::vector<std::int64_t>& occurrences,
               Span<std::int64_t> replicates)
        : events_(events), edge_(edge), replicates_(replicates),
          fixed_(edge.target == edge.influencer || events.stays[edge.target]), is_plain_(events.is_plain()),
          strata_of_(events.n_labels, -1),
          left_out_(events.n_labels, 0), what_of_(events.n_labels + 1), row_at_(AT_HAND, -1) {
        table_.width = 3 + 3 * replicates.size;
        for (std::int64_t code = -1; code < events.n_labels; ++code)
            what_of_[code + 1] = random_number(static_cast<std::uint64_t>(code + 2), 1);
        for (std::int64_t u = 0; u < edge.strata.size; ++u) strata_of_[edge.strata[u]] = static_cast<std::int32_t>(u);
        for (auto x : edge.left_out) left_out_[x] = 1;
        find_pieces(occurrences);
    }

    OrderTable run() {
        for (std::size_t last = 0; last < pieces_.size();) {  // some pieces at a time, which fit into a cache
            first_ = last;
            for (std::int64_t n = 0; last < pieces_.size() && (last == first_ || n < TICKS); ++last)
                n += pieces_[last].end - pieces_[last].from;
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
    static constexpr std::int64_t AT_HAND = 1 << 12, TICKS = 1 << 13;  // keys, elements and ticks that fit into a cache
    static constexpr std::int64_t AT_ONCE = 4;

    // Occurrences of the influencer, and in the windows of which ticks they are.
    struct Moving { std::int64_t tick, begin, end; };

    // A part of a sequence: blocks in which something has the influencer in its window, and before them as many
    // ticks as windows reach; or blocks without. Where the influencer moves, a whole sequence; `moving` is -1 if it
    // is none of that.
    struct Piece { std::int64_t sequence, from, begin, end, moving; };

    // A position: a tick that holds something other than the influencer (unless the influencer is what moves).
    struct Element {
        std::int64_t tick = 0;
        std::uint64_t what = 0;          // the same for the same labels
        std::uint64_t pattern = 0;       // which labels of the strata are in the window
        std::int32_t piece = 0, code = -1;   // its label, if that is one
        bool hit = false, out = false, stays = false, influencer = false, with = false, alike = true;
    };

    // The last of `starts`, from number `at` on, that is not after a tick.
    static std::int64_t advance(Span<std::int64_t> starts, std::int64_t at, std::int64_t tick) {
        std::int64_t step = 1;
        for (; at + step < starts.size && starts[at + step] <= tick; step *= 2) at += step;
        const auto stop = starts.begin() + std::min(at + step, starts.size);
        return std::upper_bound(starts.begin() + at + 1, stop, tick) - starts.begin() - 1;
    }

    void find_pieces(const std::vector<std::int64_t>& occurrences) {
        std::int64_t s = -1, begin = 0, end = -1, block = 0;
        Count weight = 0;
        bool is_short = false;  // whether the sequence is one block; its first position is one of its own
        const auto enter = [&](std::int64_t tick) {
            if (s >= 0 && tick < events_.bounds[s + 1]) return false;
            s = advance(events_.bounds, std::max(s, std::int64_t{0}), tick);
            block = advance(events_.cuts, block, events_.bounds[s]);
            weight = chance(block) < edge_.part ? events_.weight(s) : 0;
            is_short = block + 2 >= events_.seeds.size || events_.cuts[block + 2] >= events_.bounds[s + 1];
            return true;
        };
        std::vector<std::int64_t> blocks;  // with something that has the influencer in its window
        for (auto row : occurrences) {
            const std::int64_t tick = events_.tick[row];
            const bool is_new = enter(tick);
            table_.influencers += weight;
            if (is_short) table_.in_one_block += weight;
            if (!weight || (!moving_.empty() && moving_.back().tick == tick)) continue;
            if (fixed_ && is_new) pieces_.push_back({s, events_.bounds[s], events_.bounds[s], events_.bounds[s + 1], 0});
            stretch(tick, events_.bounds[s + 1], edge_.reach, [&](std::int64_t t) { return events_.times[t]; }, begin, end);
            moving_.push_back({tick, begin, end + 1});
            if (fixed_ || begin > end) continue;
            block = advance(events_.cuts, block, begin);
            for (std::int64_t each = std::max(block, blocks.empty() ? 0 : blocks.back() + 1); events_.cuts[each] <= end; ++each)
                blocks.push_back(each);
        }
        if (fixed_) {
            const auto n = static_cast<std::ptrdiff_t>(pieces_.size());
            auto next = pieces_.begin();
            block = 0;
            std::vector<Piece> others;  // sequences without the influencer
            for (s = 0; edge_.base && s + 1 < events_.bounds.size; ++s) {
                const std::int64_t begin = events_.bounds[s], end = events_.bounds[s + 1];
                while (next != pieces_.end() && next->sequence < s) ++next;
                if (begin == end || !events_.weight(s) || (next != pieces_.end() && next->sequence == s)) continue;
                block = advance(events_.cuts, block, begin);
                if (chance(block) < std::min(edge_.part, edge_.base)) others.push_back({s, begin, begin, end, -1});
            }
            pieces_.insert(pieces_.end(), others.begin(), others.end());
            std::inplace_merge(pieces_.begin(), pieces_.begin() + n, pieces_.end(),
                               [](const Piece& one, const Piece& other) { return one.sequence < other.sequence; });
            return;
        }
        std::int64_t last = -1, moving = 0;
        s = -1, block = 0;
        const auto need = [&](std::int64_t number) {
            const std::int64_t from = events_.cuts[number], to = events_.cuts[number + 1];
            const bool is_new = enter(from);
            if (!weight) return;
            if (is_new || number != last + 1 || pieces_.empty()) {
                while (moving < static_cast<std::int64_t>(moving_.size()) && moving_[moving].end <= from) ++moving;
                pieces_.push_back({s, before(from, events_.bounds[s]), from, to, moving});
            } else pieces_.back().end = to;
            last = number;
        };
        auto next = blocks.begin();
        if (edge_.base)
            for (std::int64_t number = 0; number < events_.seeds.size; ++number) {
                if (next != blocks.end() && *next == number) ++next;
                else if (chance(number) >= edge_.base) continue;
                need(number);
            }
        else
            for (auto number : blocks) need(number);
    }

    std::uint64_t chance(std::int64_t block) const { return events_.seeds[block] >> 32; }

    // The first tick that is needed to tell what is in the windows from tick `begin` on.
    std::int64_t before(std::int64_t begin, std::int64_t bound) const {
        std::int64_t places = 1, time = -1, t = begin;  // the one before is needed in any case
        for (const auto& reach : edge_.reaches) (reach.in_time ? time : places) = std::max(reach.in_time ? time : places, reach.size);
        while (t > bound && (places > 0 || (time >= 0 && events_.times[begin] - events_.times[t - 1] <= time))) {
            --t;
            for (std::int64_t row = first_row(t); is_at(row, t); ++row) {
                const std::int32_t code = events_.codes[row];
                if (code >= 0 && (code == edge_.influencer || events_.stays[code])) continue;
                --places;
                break;
            }
        }
        return t;
    }

    std::int64_t first_row(std::int64_t tick) const {
        if (is_plain_) return tick;
        return std::lower_bound(events_.tick.begin(), events_.tick.end(), tick) - events_.tick.begin();
    }

    bool is_at(std::int64_t row, std::int64_t tick) const {
        return is_plain_ ? row == tick : row < events_.codes.size && events_.tick[row] == tick;
    }

    // The positions, what each holds, and what is in the window of each.
    void place(std::size_t last) {
        std::vector<std::vector<std::int64_t>> occurrences(edge_.strata.size);
        elements_.clear();
        starts_.assign(1, 0);
        for (std::size_t p = first_; p < last; ++p) {
            const Piece& piece = pieces_[p];
            std::int64_t row = first_row(piece.from), met = -1;
            auto moving = static_cast<std::size_t>(std::max(piece.moving, std::int64_t{0}));
            for (std::int64_t t = piece.from; t < piece.end; ++t) {
                const std::int64_t number = static_cast<std::int64_t>(elements_.size());
                Element& element = elements_.emplace_back();  // taken back if there is nothing
                element.tick = t;
                element.piece = static_cast<std::int32_t>(p - first_);
                bool any = false;
                for (; is_at(row, t); ++row) {
                    const std::int32_t code = events_.codes[row];
                    if (code >= 0 && code == edge_.influencer) {
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
                if (!any) {
                    elements_.pop_back();
                    continue;
                }
                element.out = (element.out && !element.hit) || (edge_.only && !element.stays);
                for (; moving < moving_.size() && moving_[moving].tick < t && moving_[moving].begin <= t; ++moving)
                    met = std::max(met, moving_[moving].end);
                element.with = t < met;
            }
            starts_.push_back(static_cast<std::int64_t>(elements_.size()));
        }
        for (std::int64_t u = 0; u < edge_.strata.size; ++u)
            mark(occurrences[u], edge_.reaches[u], [&](std::int64_t e) { elements_[e].pattern |= std::uint64_t{1} << u; });
        for (std::size_t p = first_; p < last; ++p) {
            auto by = std::lower_bound(events_.held_by.begin(), events_.held_by.end(), pieces_[p].sequence);
            for (; by != events_.held_by.end() && *by == pieces_[p].sequence; ++by) {
                const std::int32_t u = strata_of_[events_.held[by - events_.held_by.begin()]];
                if (u < 0) continue;
                for (std::int64_t e = starts_[p - first_]; e < starts_[p - first_ + 1]; ++e)
                    elements_[e].pattern |= std::uint64_t{1} << u;
            }
        }
        if (!fixed_) compare();
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
                if (before >= starts_[elements_[e].piece]) {
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
            stretch(j, starts_[elements_[j].piece + 1], reach,
                    [&](std::int64_t e) { return events_.times[elements_[e].tick]; }, begin, end);
            for (done = std::max(done, begin); done <= end; ++done) visit(done);
        }
    }

    // The row of the stratum of an element.
    std::int32_t stratum(const Element& element) {
        const std::uint64_t key =
            (static_cast<std::uint64_t>(events_.stratum[element.tick]) << 1 | element.alike) << edge_.strata.size | element.pattern;
        std::int32_t& row = key < row_at_.size() ? row_at_[key] : other_rows_.try_emplace(key, -1).first->second;
        if (row < 0) {
            row = static_cast<std::int32_t>(table_.keys.size());
            table_.keys.push_back(key);
            table_.counts.resize(table_.counts.size() + table_.width, 0);
        }
        return row;
    }

    Count& cell(std::int32_t row, std::int64_t replicate, std::int64_t what) {
        return table_.counts[row * table_.width + 1 + 3 * replicate + what];
    }

    Count weight(const Element& element) const { return events_.weight(pieces_[first_ + element.piece].sequence); }

    // The other events turn inside of blocks, against those of the influencer, which stay. Of them those count
    // that differ from the one before (unless events happen together), and come neither after the target nor
    // after what is left out.
    void rotate() {
        struct Block { std::int64_t begin, size, slots, n_slots; std::uint64_t seed; Count weight; };
        std::vector<std::int32_t> cells;   // of each element that turns: twice its stratum, one more for a hit; or -1
        std::vector<std::int32_t> slots;   // places in their block with the influencer in the window
        std::vector<Block> blocks;
        for (std::size_t p = 0; p + 1 < starts_.size(); ++p) {
            const Piece& piece = pieces_[first_ + p];
            const Count weight = events_.weight(piece.sequence);
            block_ = advance(events_.cuts, block_, piece.begin);
            const auto open = [&] {
                const auto at = static_cast<std::int64_t>(cells.size()), slot = static_cast<std::int64_t>(slots.size());
                blocks.push_back({at, 0, slot, 0, events_.seeds[block_], weight});
            };
            const auto close = [&] {
                auto& last = blocks.back();
                last.size = static_cast<std::int64_t>(cells.size()) - last.begin;
                last.n_slots = static_cast<std::int64_t>(slots.size()) - last.slots;
                const bool is_other = !last.n_slots;
                if (!is_other || chance(block_) < edge_.base)
                    for (auto at = cells.begin() + last.begin; at != cells.end(); ++at) {
                        if (*at < 0) continue;
                        Count* to = table_.counts.data() + (*at >> 1) * table_.width;
                        to[is_other ? table_.width - 2 : 0] += weight;
                        if (*at & 1) to[is_other ? table_.width - 1 : 3] += weight;
                    }
                if (!is_other) return;
                cells.resize(last.begin);
                blocks.pop_back();
            };
            open();
            for (std::int64_t e = starts_[p]; e < starts_[p + 1]; ++e) {
                const Element& element = elements_[e];
                if (element.tick < piece.begin) continue;
                while (events_.cuts[block_ + 1] <= element.tick) {
                    close();
                    ++block_;
                    open();
                }
                const Element* before = e > starts_[p] ? &elements_[e - 1] : nullptr;
                if (!events_.together && before && before->what == element.what) continue;
                if (element.with) slots.push_back(static_cast<std::int32_t>(cells.size() - blocks.back().begin));
                const bool is_out = element.out || (before && (before->hit || before->out));
                cells.push_back(is_out ? -1 : 2 * stratum(element) + element.hit);
            }
            close();
        }
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
        std::vector<std::int32_t> rows(elements_.size(), -1);  // of elements of sequences with the influencer
        const std::int64_t n = static_cast<std::int64_t>(elements_.size());
        for (std::int64_t e = 0, first = 0, block = block_; e < n; first = e) {
            block = advance(events_.cuts, block, elements_[e].tick);
            const std::int64_t stop = events_.cuts[block + 1], begin = static_cast<std::int64_t>(places.size());
            for (; e < n && elements_[e].tick < stop; ++e)
                if (elements_[e].influencer) places.push_back(e);
            const std::int64_t moved = static_cast<std::int64_t>(places.size()) - begin;
            const bool is_other = pieces_[first_ + elements_[first].piece].moving < 0;
            for (std::int64_t at = first; at < e; ++at) {
                const Element& element = elements_[at];
                if (moved && !element.influencer && !element.stays && !(itself && element.out)) places.push_back(at);
                if (element.out) continue;
                const auto row = stratum(element);
                Count* to = table_.counts.data() + row * table_.width;
                (is_other ? to[table_.width - 2] : to[0]) += weight(element);
                if (!is_other) rows[at] = row;
                else if (element.hit) to[table_.width - 1] += weight(element);
            }
            if (!moved) continue;
            blocks.push_back({begin, static_cast<std::int64_t>(places.size()) - begin, moved, events_.seeds[block]});
            block_ = block;
        }
        const auto weigh = [&](std::int64_t at) {
            return events_.weights.data ? weight(elements_[at]) : Count{1};
        };
        std::vector<std::int32_t> seen(elements_.size(), -1);
        std::vector<std::int64_t> hits, chosen, others;
        for (std::int64_t at = 0; at < n; ++at)
            if (elements_[at].hit) hits.push_back(at);
        std::vector<Count> counts(3 * table_.keys.size());  // of one replicate, close together
        for (std::int64_t b = 0; b < replicates_.size; ++b) {
            const std::uint64_t replicate = static_cast<std::uint64_t>(replicates_[b]);
            chosen.clear();
            std::fill(counts.begin(), counts.end(), 0);
            for (const auto& one : blocks) {
                std::int64_t* from = places.data() + one.begin;
                const auto before = static_cast<std::ptrdiff_t>(chosen.size());
                if (!replicate) chosen.insert(chosen.end(), from, from + one.n);
                else {
                    const std::uint64_t seed = random_number(one.seed, replicate);
                    others.clear();
                    for (std::int64_t i = 0; i < one.n; ++i) {
                        const auto other = i + random_below(seed, static_cast<std::uint64_t>(i + 1), one.size - i);
                        std::swap(from[i], from[other]);
                        others.push_back(other);
                        chosen.push_back(from[i]);
                    }
                    for (std::int64_t i = one.n; i-- > 0;) std::swap(from[i], from[others[i]]);  // as they were
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
    bool fixed_, is_plain_;
    std::vector<std::int32_t> strata_of_;
    std::vector<char> left_out_;
    std::vector<Moving> moving_;
    std::vector<Piece> pieces_;
    std::size_t first_ = 0;  // of the pieces at hand
    std::int64_t block_ = 0;  // where to look for blocks
    std::vector<Element> elements_;
    std::vector<std::int64_t> starts_;  // the first element of each piece at hand, and the number of all
    std::vector<std::uint64_t> what_of_;  // of each label, and before them of none
    std::vector<std::int32_t> row_at_;    // of small keys, or -1
    std::unordered_map<std::uint64_t, std::int32_t> other_rows_;
    OrderTable table_;
};

}  // namespace summarkov
