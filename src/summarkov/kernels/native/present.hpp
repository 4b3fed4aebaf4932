// At how many positions of a run is each label present in its window, and at which level?
//
// Event j of label z is its l-th most recent one in the window of row i exactly for i from begin(next_{l-1}(j))
// to min(end(j), begin(next_l(j)) - 1), where next_l(j) is z's l-th occurrence after j and next_0(j) = j. Binary
// and ordinal summaries need l = 1 alone; z has been seen at least l times where the l-th most recent is in the
// window. (Mask "first": from max(begin(j), end(prev(j)) + 1) to end(j).)
#pragma once

#include "states.hpp"

namespace summarkov {

// Where the counts of one outcome go: a cell for each candidate, state and level from 1 on.
struct Cells {
    Count* data;
    std::int64_t n_states, deep;
    Count* at(std::int64_t row, std::int64_t state) const { return data + (row * n_states + state) * deep; }
};

// A run, or a single position, in one state.
struct Stretch {
    Position begin, end;
    std::int64_t sequence, state;
    const std::int32_t* stands;  // ordinal: where the influencers present stand, in the order of the scan
    std::int64_t n_stands;
    Count weight;
};

// Looks back from each stretch by itself: cost in proportion to its length and the look-back.
template <class Rows>
class Lookback {
  public:
    Lookback(const Rows& rows, const std::vector<std::int32_t>& row_of)
        : rows_(rows), index_(rows.index), window_(rows.window), row_of_(row_of), seen_(index_.n_labels, Seen{0, 0}),
          later_(window_.kind == COUNT ? index_.n_labels * window_.cap : 0),
          n_later_(later_.empty() ? 0 : index_.n_labels) {}

    void add(const Stretch& run, const Cells& cells) {
        ++tag_;
        switch (window_.kind) {
            case BINARY: run.end - run.begin == 1 ? at_point(run, cells) : backward<false>(run, cells); break;
            case ORDINAL_LAST: backward<true>(run, cells); break;
            case ORDINAL_FIRST: forward(run, cells); break;
            case COUNT: counting(run, cells); break;
        }
    }

  private:
    struct Seen {
        std::int32_t tag, position;
    };

    // The events that some position of the run looks back at, most recent first.
    template <class Visit>
    void each_backward(const Stretch& run, Visit visit) {
        const Position first = index_.offsets[run.sequence], start = first + rows_.heads(run.sequence);
        const Position oldest = rows_.last_resort(run.begin, start);
        for (Position j = rows_.newest(run.end - 1, start); j >= oldest && rows_.reaches(j, run.begin); --j)
            if (index_.codes[j] >= 0) visit(index_.codes[j], j);
        for (Position j = start - 1; j >= first; --j) visit(index_.codes[j], j);
    }

    void at_point(const Stretch& run, const Cells& cells) {
        each_backward(run, [&](std::int32_t z, Position j) {
            if (seen_[z].tag == tag_) return;
            seen_[z].tag = tag_;
            if (row_of_[z] >= 0 && rows_.end(z, j) >= run.begin) *cells.at(row_of_[z], run.state) += run.weight;
        });
    }

    template <bool ordinal>
    void backward(const Stretch& run, const Cells& cells) {
        std::int64_t passed = 0;  // influencers that stand after the event
        each_backward(run, [&](std::int32_t z, Position j) {
            if (ordinal)
                while (passed < run.n_stands && run.stands[passed] >= j) ++passed;
            Position last = std::min(rows_.end(z, j), run.end - 1);
            if (seen_[z].tag == tag_) last = std::min(last, rows_.begin(seen_[z].position) - 1);
            seen_[z] = {tag_, static_cast<std::int32_t>(j)};
            const Position n = rows_.length(std::max(rows_.begin(j), run.begin), last + 1);
            if (n > 0 && row_of_[z] >= 0)
                cells.at(row_of_[z], run.state)[ordinal ? run.n_stands - passed : 0] += n * run.weight;
        });
    }

    void forward(const Stretch& run, const Cells& cells) {
        const Position start = index_.offsets[run.sequence], head = start + rows_.heads(run.sequence);
        std::int64_t passed = 0;  // influencers that stand before the event
        auto visit = [&](std::int32_t z, Position j) {
            while (passed < run.n_stands && run.stands[passed] < j) ++passed;
            Position first = std::max(rows_.begin(j), run.begin);
            if (seen_[z].tag == tag_) first = std::max(first, rows_.end(z, seen_[z].position) + 1);
            seen_[z] = {tag_, static_cast<std::int32_t>(j)};
            const Position n = rows_.length(first, std::min(rows_.end(z, j), run.end - 1) + 1);
            if (n > 0 && row_of_[z] >= 0) cells.at(row_of_[z], run.state)[passed] += n * run.weight;
        };
        for (Position j = start; j < head; ++j) visit(index_.codes[j], j);
        const Position newest = rows_.newest(run.end - 1, head);
        for (Position j = rows_.oldest(run.begin, head); j <= newest; ++j)
            if (index_.codes[j] >= 0) visit(index_.codes[j], j);
    }

    void counting(const Stretch& run, const Cells& cells) {
        each_backward(run, [&](std::int32_t z, Position j) {
            if (seen_[z].tag != tag_) seen_[z].tag = tag_, n_later_[z] = 0;
            const Position end = std::min(rows_.end(z, j), run.end - 1);
            auto later = [&](std::int64_t l) {  // z's l-th occurrence after j
                return later_[z * window_.cap + (n_later_[z] - l) % window_.cap];
            };
            Position first = j;  // next_{l-1}(j)
            for (std::int64_t l = 1; l <= window_.cap && row_of_[z] >= 0; ++l) {
                const bool more = l <= n_later_[z];
                const Position last = more ? std::min<Position>(end, rows_.begin(later(l)) - 1) : end;
                const Position n = rows_.length(std::max(rows_.begin(first), run.begin), last + 1);
                if (n > 0) {
                    Count* cell = cells.at(row_of_[z], run.state);
                    cell[l - 1] += n * run.weight;
                    if (l > 1) cell[l - 2] -= n * run.weight;
                }
                if (!more) break;
                first = later(l);
            }
            later_[z * window_.cap + n_later_[z] % window_.cap] = static_cast<std::int32_t>(j);
            ++n_later_[z];
        });
    }

    const Rows& rows_;
    const Index& index_;
    const Window& window_;
    const std::vector<std::int32_t>& row_of_;
    std::vector<Seen> seen_;
    std::vector<std::int32_t> later_;  // COUNT: the last `cap` occurrences met, one ring per label
    std::vector<std::int64_t> n_later_;
    std::int32_t tag_ = 0;
};

// Goes through the events once and keeps the labels in order of recency: cost in proportion to the events, and
// for each stretch to its length and the labels present, whatever the look-back. Stretches must come in order.
// For binary and ordinal "last" summaries, and for the others where no look-back has a limit.
template <class Rows>
class Sweep {
  public:
    Sweep(const Rows& rows, const std::vector<std::int32_t>& row_of)
        : rows_(rows), index_(rows.index), window_(rows.window), row_of_(row_of), labels_(index_.n_labels + 1) {
        clear();
    }

    static bool serves(const Index& index, const Window& window) {
        if (window.kind == BINARY || window.kind == ORDINAL_LAST) return true;
        const auto shortest = std::min_element(window.lookback.begin(), window.lookback.end());
        return index.n_labels == 0 || *shortest >= Position{1} << 62;
    }

    void add(const Stretch& run, const Cells& cells) {
        go_to(run.sequence, run.begin);
        std::int64_t passed = 0, level = 1;
        for (auto z = labels_[end()].next; z != end(); z = labels_[z].next) {
            const Label& label = labels_[z];
            if (!rows_.reaches(label.position, run.begin) && !rows_.is_attribute(z)) {  // never so for mask "first"
                if (!rows_.has_attributes()) break;
                continue;
            }
            if (window_.ordinal()) {
                const bool last = window_.kind == ORDINAL_LAST;
                while (passed < run.n_stands &&
                       (last ? run.stands[passed] >= label.position : run.stands[passed] < label.position))
                    ++passed;
                level = 1 + (last ? run.n_stands - passed : passed);
            } else {
                level = window_.kind == COUNT ? label.count : 1;
            }
            put(run, cells, z, label.position, run.begin, level, 1);
        }
        // Events that come into view within the run end what the label's earlier one had begun.
        std::int32_t z;
        Position j;
        while (next_event(run.end - 1, z, j)) {
            const Label before = labels_[z];
            push(z, j);
            const Label& after = labels_[z];
            if (before.listed && window_.kind == ORDINAL_FIRST) continue;
            if (before.listed && window_.kind == COUNT && after.count == before.count) continue;
            std::int64_t old_level = 1, new_level = 1;
            if (window_.kind == COUNT) old_level = before.count, new_level = after.count;
            if (window_.ordinal()) {  // no influencer comes or goes within a run, so all stand before j
                new_level = run.n_stands + 1;
                for (std::int64_t u = 0; u < run.n_stands; ++u) old_level += run.stands[u] < before.position;
            }
            const Position view = rows_.begin(j);
            if (before.listed) put(run, cells, z, before.position, view, old_level, -1);
            put(run, cells, z, after.position, view, new_level, 1);
        }
    }

  private:
    struct Label {
        Position position = 0;  // of its last event (mask "first": of its first)
        std::int64_t count = 0;  // capped
        std::int32_t next = 0, previous = 0;
        bool listed = false;
    };
    std::int32_t end() const { return static_cast<std::int32_t>(index_.n_labels); }

    void put(const Stretch& run, const Cells& cells, std::int32_t z, Position j, Position from, std::int64_t level,
             Count sign) {
        const Position n = rows_.length(from, std::min(rows_.end(z, j), run.end - 1) + 1);
        if (n > 0 && row_of_[z] >= 0) cells.at(row_of_[z], run.state)[level - 1] += sign * n * run.weight;
    }

    void clear() {
        for (auto z = labels_[end()].next; z != end() && labels_[z].listed; z = labels_[z].next)
            labels_[z].listed = false, labels_[z].count = 0;
        labels_[end()].next = labels_[end()].previous = end();
    }

    void push(std::int32_t z, Position j) {
        Label& label = labels_[z];
        label.count = std::min(label.count + 1, window_.cap);
        if (label.listed && window_.kind == ORDINAL_FIRST) return;
        if (label.listed) {
            labels_[label.previous].next = label.next;
            labels_[label.next].previous = label.previous;
        }
        label.listed = true;
        label.position = j;
        const std::int32_t before = window_.kind == ORDINAL_FIRST ? labels_[end()].previous : end();
        label.previous = before;
        label.next = labels_[before].next;
        labels_[label.next].previous = z;
        labels_[before].next = z;
    }

    void go_to(std::int64_t sequence, Position position) {
        if (sequence != sequence_) {
            clear();
            sequence_ = sequence;
            cursor_ = index_.offsets[sequence];
        }
        std::int32_t z;
        Position j;
        while (next_event(position, z, j)) push(z, j);
    }

    // The next event of a known label that the window of row i can hold.
    bool next_event(Position i, std::int32_t& z, Position& j) {
        for (; cursor_ < i && rows_.begin(cursor_) <= i; ++cursor_)
            if (index_.codes[cursor_] >= 0) return z = index_.codes[cursor_], j = cursor_, ++cursor_, true;
        return false;
    }

    const Rows& rows_;
    const Index& index_;
    const Window& window_;
    const std::vector<std::int32_t>& row_of_;
    std::vector<Label> labels_;  // the last entry is the list's end
    std::int64_t sequence_ = -1;
    Position cursor_ = 0;
};

}  // namespace summarkov
