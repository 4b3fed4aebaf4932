// In how many sequences a label occurred, and in how many another one followed it.
#pragma once

#include "count.hpp"

namespace summarkov {

struct Followed {
    Count counts[2] = {0, 0};          // sequences, weighted, with z in the window of some position; of a position of x
    std::int32_t ends[2][2] = {};      // whether the first and the last sequence are among them
};

// `rows` has the window of z.
template <class Rows>
Followed count_followed(const Rows& rows, const Weights& weights, std::int64_t z, std::int64_t x) {
    const Index& index = rows.index;
    Followed found;
    const std::int64_t n = index.n_sequences();
    std::int64_t latest[2] = {-1, -1};  // the sequence that was counted last
    auto add = [&](int kind, std::int64_t sequence) {
        if (sequence == latest[kind]) return;
        latest[kind] = sequence;
        found.counts[kind] += weights[sequence];
        if (sequence == 0) found.ends[kind][0] = 1;
        if (sequence == n - 1) found.ends[kind][1] = 1;
    };
    const auto begin = index.order.begin();
    const auto z_begin = begin + index.starts[z], z_end = begin + index.starts[z + 1];
    std::int64_t sequence = 0;
    for (auto at = z_begin; at != z_end; ++at) {
        const Position p = *at;
        sequence = index.sequence_of(p, sequence);
        const Position first = std::max<Position>(rows.begin(p), 0);
        if (std::min(rows.end(z, p), index.offsets[sequence + 1] - 1) >= first) add(0, sequence);
    }
    sequence = 0;
    auto next = z_begin;  // the first z that is too recent
    for (auto at = begin + index.starts[x]; at != begin + index.starts[x + 1]; ++at) {
        const Position i = *at;
        if (i < 0) continue;
        while (next != z_end && rows.begin(*next) <= i) ++next;
        if (next == z_begin) continue;
        const Position last = *(next - 1);
        sequence = index.sequence_of(i, sequence);
        const bool same = last >= index.offsets[sequence] || (last < 0 && sequence == 0);
        if (same && rows.end(z, last) >= i) add(1, sequence);
    }
    return found;
}

}  // namespace summarkov
