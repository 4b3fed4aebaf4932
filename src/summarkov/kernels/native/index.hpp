// One shard: its events, where its sequences begin, and the positions of every label.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace summarkov {

using Position = std::int64_t;
using Count = std::int64_t;

// A stretch of memory that Python owns.
template <class T>
struct Span {
    const T* data = nullptr;
    std::int64_t size = 0;
    const T& operator[](std::int64_t i) const { return data[i]; }
    const T* begin() const { return data; }
    const T* end() const { return data + size; }
};

struct Index {
    Span<std::int32_t> codes;
    Span<std::int64_t> offsets;
    std::int64_t n_labels;

    // Positions of every label, ascending, label after label: order[starts[z] .. starts[z + 1]). An int32 an
    // event: the caller refuses shards of 2^31 events.
    std::vector<std::int32_t> order;
    std::vector<std::int64_t> starts;
    double mean_past = 0;  // how many events precede a position in its sequence, on average

    Index(Span<std::int32_t> codes_, Span<std::int64_t> offsets_, std::int64_t n_labels_)
        : codes(codes_), offsets(offsets_), n_labels(n_labels_), starts(n_labels_ + 1, 0) {
        auto each = [&](auto visit) {
            for (std::int64_t i = 0; i < codes.size; ++i)
                if (codes[i] >= 0) visit(codes[i], i);
        };
        each([&](std::int32_t z, Position) { ++starts[z + 1]; });
        for (std::int64_t z = 0; z < n_labels; ++z) starts[z + 1] += starts[z];
        order.resize(starts[n_labels]);
        std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
        each([&](std::int32_t z, Position p) { order[next[z]++] = static_cast<std::int32_t>(p); });
        double pairs = 0;
        for (std::int64_t s = 0; s + 1 < offsets.size; ++s) {
            double n = static_cast<double>(offsets[s + 1] - offsets[s]);
            pairs += n * (n - 1) / 2;
        }
        if (codes.size) mean_past = pairs / static_cast<double>(codes.size);
    }

    std::int64_t n_sequences() const { return offsets.size - 1; }

    // The sequence that holds a position, searched for from sequence `from` on.
    std::int64_t sequence_of(Position p, std::int64_t from) const {
        std::int64_t step = 1, high = from;
        while (high + 1 < n_sequences() && offsets[high + 1] <= p) {
            high = std::min(high + step, n_sequences() - 1);
            step *= 2;
        }
        const auto* first = offsets.begin() + from;
        return from + (std::upper_bound(first, offsets.begin() + high + 1, p) - first) - 1;
    }
};

enum Kind { BINARY, ORDINAL_LAST, ORDINAL_FIRST, COUNT };

// How a summary looks back.
struct Window {
    Kind kind;
    Span<std::int64_t> lookback;  // one per label
    Position delay;
    std::int64_t cap;
    Position longest;  // the longest look-back

    std::int64_t levels(std::int64_t n_others) const {  // absence included
        if (kind == COUNT) return cap + 1;
        return kind == BINARY ? 2 : n_others + 2;
    }
    bool ordinal() const { return kind == ORDINAL_LAST || kind == ORDINAL_FIRST; }
};

// For each row the last row of its sequence whose clock is at most `size` ahead; `size` less than 0: none is.
inline void last_within(Span<std::int64_t> clock, Span<std::int64_t> offsets, std::int64_t size, std::int32_t* to) {
    for (std::int64_t s = 0; s + 1 < offsets.size; ++s) {
        Position p = offsets[s];
        for (Position j = offsets[s]; j < offsets[s + 1]; ++j) {
            while (p < offsets[s + 1] && clock[p] - clock[j] <= size) ++p;
            *to++ = static_cast<std::int32_t>(p - 1);
        }
    }
}

// At which rows an occurrence is in the window, from begin(j) to end(z, j), and how many positions rows have.
// Each kernel is written for all of them: rows that are positions themselves, ...
struct Plain {
    const Index& index;
    const Window& window;

    Position begin(Position j) const { return j + window.delay + 1; }
    Position end(std::int64_t z, Position j) const { return j + window.lookback[z]; }
    // Positions from row `a` to before row `b`.
    Position length(Position a, Position b) const { return b - a; }
    // The last row that the window of row i can hold.
    Position newest(Position i, Position) const { return i - window.delay - 1; }
    // The first row from `start` on that some window of row i or a later one can hold; and one that is not later.
    Position last_resort(Position i, Position start) const { return oldest(i, start); }
    Position oldest(Position i, Position start) const { return std::max(start, i - window.longest); }
    bool reaches(Position j, Position i) const { return j >= i - window.longest; }
    // How many rows windows reach over, on average.
    double mean_reach() const { return std::min(static_cast<double>(window.longest), index.mean_past); }
    // The first row of the position that a row is of.
    Position begin_of(Position i) const { return i; }
    bool is_attribute(std::int64_t) const { return false; }
    bool has_attributes() const { return false; }
    std::int64_t heads(std::int64_t) const { return 0; }
};

// ... and rows that share positions, have windows in time, or are attributes.
struct Reach {
    const std::int32_t* first;                // of each row
    const std::int32_t* before;               // positions that begin before each row
    std::vector<const std::int32_t*> last;    // for each label, of each row
    const std::int32_t* farthest;             // the latest of them over all labels but attributes
    const bool* attributes;                   // one per label
    bool any_attributes;
    double mean;                              // rows from a row to the farthest

    // Whether rows 0 to n - 1 are positions themselves and windows begin right behind them.
    bool in_rows(std::int64_t n) const {
        for (Position j = 0; j < n; ++j)
            if (first[j] != j + 1 || before[j] != j) return false;
        return true;
    }
};

struct Placed {
    const Index& index;
    const Window& window;
    const Reach& reach;

    Position begin(Position j) const { return reach.first[j]; }
    Position end(std::int64_t z, Position j) const { return reach.last[z][j]; }
    Position length(Position a, Position b) const { return b > a ? reach.before[b] - reach.before[a] : 0; }
    Position newest(Position i, Position start) const {
        Position j = i - 1;
        while (j >= start && reach.first[j] > i) --j;
        return j;
    }
    Position last_resort(Position, Position start) const { return start; }
    Position oldest(Position i, Position start) const {
        const auto* from = reach.farthest + start;
        const auto* to = reach.farthest + std::max(start, i);
        return start + (std::lower_bound(from, to, i) - from);
    }
    bool reaches(Position j, Position i) const { return reach.farthest[j] >= i; }
    double mean_reach() const { return reach.mean; }
    Position begin_of(Position i) const {
        while (reach.before[i + 1] == reach.before[i]) --i;
        return i;
    }
    bool is_attribute(std::int64_t z) const { return reach.attributes[z]; }
    bool has_attributes() const { return reach.any_attributes; }
    // How many rows of attributes a sequence begins with.
    std::int64_t heads(std::int64_t sequence) const {
        if (!reach.any_attributes) return 0;
        Position j = index.offsets[sequence];
        while (j < index.offsets[sequence + 1] && index.codes[j] >= 0 && reach.attributes[index.codes[j]]) ++j;
        return j - index.offsets[sequence];
    }
};

// ... and rows that are positions, with one look-back in time for all labels: nothing but that is looked up.
struct Timed : Plain {
    const Reach& reach;

    Timed(const Index& index, const Window& window, const Reach& reach_) : Plain{index, window}, reach(reach_) {}
    Position begin(Position j) const { return j + 1; }
    Position end(std::int64_t, Position j) const { return reach.farthest[j]; }
    Position newest(Position i, Position) const { return i - 1; }
    Position last_resort(Position, Position start) const { return start; }
    Position oldest(Position i, Position start) const { return Placed{index, window, reach}.oldest(i, start); }
    bool reaches(Position j, Position i) const { return reach.farthest[j] >= i; }
    double mean_reach() const { return reach.mean; }
};

}  // namespace summarkov
