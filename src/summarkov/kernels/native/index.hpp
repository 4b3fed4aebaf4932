// One shard: its events, where its sequences begin, and the positions of every label.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace summarkov {

using Position = std::int64_t;  // negative for the past of the first sequence
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
    Span<std::int64_t> past_positions;
    Span<std::int32_t> past_codes;
    std::int64_t n_labels;

    // Positions of every label, ascending, label after label: order[starts[z] .. starts[z + 1]). An int32 an
    // event: shards are far smaller than 2^31, and the caller moves a distant past within reach.
    std::vector<std::int32_t> order;
    std::vector<std::int64_t> starts;
    double mean_past = 0;  // how many events precede a position in its sequence, on average

    Index(Span<std::int32_t> codes_, Span<std::int64_t> offsets_, Span<std::int64_t> past_positions_,
          Span<std::int32_t> past_codes_, std::int64_t n_labels_)
        : codes(codes_), offsets(offsets_), past_positions(past_positions_), past_codes(past_codes_),
          n_labels(n_labels_), starts(n_labels_ + 1, 0) {
        auto each = [&](auto visit) {
            for (std::int64_t e = 0; e < past_codes.size; ++e)
                if (past_codes[e] >= 0) visit(past_codes[e], past_positions[e]);
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
            pairs += n * (n - 1) / 2 + (s == 0 ? n * static_cast<double>(past_codes.size) : 0);
        }
        if (codes.size) mean_past = pairs / static_cast<double>(codes.size);
    }

    std::int64_t n_sequences() const { return offsets.size - 1; }

    // The sequence that holds a position, searched for from sequence `from` on.
    std::int64_t sequence_of(Position p, std::int64_t from) const {
        if (p < 0) return 0;
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
    Span<std::int64_t> lookback;  // one a label
    Position delay;
    std::int64_t cap;
    Position longest;  // the longest look-back

    std::int64_t levels(std::int64_t n_others) const {  // absence included
        if (kind == COUNT) return cap + 1;
        return kind == BINARY ? 2 : n_others + 2;
    }
    bool ordinal() const { return kind == ORDINAL_LAST || kind == ORDINAL_FIRST; }
};

}  // namespace summarkov
