// The same events many times over: under many weights at once, or in another order inside their sequences.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "index.hpp"

namespace summarkov {

// Add row rows[i] of `weights`, `width` numbers, to row cells[i] of `sums` (less than 0: to none).
inline void add_rows(Span<std::int64_t> cells, Span<std::int64_t> rows, const Count* weights, std::int64_t width,
                     Count* sums) {
    for (std::int64_t i = 0; i < cells.size; ++i) {
        if (cells[i] < 0) continue;
        const Count* from = weights + rows[i] * width;
        Count* to = sums + cells[i] * width;
        for (std::int64_t b = 0; b < width; ++b) to[b] += from[b];
    }
}

// SplitMix64: the number that comes `step` steps after a seed.
inline std::uint64_t random_number(std::uint64_t seed, std::uint64_t step) {
    std::uint64_t x = seed + step * 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

// Only the leading bits of the random numbers decide; events that they do not tell apart stay in order.
constexpr int UNUSED_BITS = 24;

// Leave the first `kept` events of each sequence in place, and sort those of each block of `within` positions
// after them by their random numbers. The first sequence continues one of which `begun` events came before.
inline void shuffle(Span<std::int32_t> codes, Span<std::int64_t> offsets, Span<std::uint64_t> seeds,
                    std::int64_t begun, std::int64_t kept, std::int64_t within, std::int32_t* to) {
    std::vector<std::uint64_t> keys;                                   // with the place in the unused bits
    std::vector<std::pair<std::uint64_t, std::int64_t>> many;          // where places need more bits
    for (std::int64_t s = 0; s + 1 < offsets.size; ++s) {
        const std::int64_t before = s ? 0 : begun;
        for (std::int64_t i = offsets[s]; i < offsets[s + 1];) {
            const std::int64_t place = before + i - offsets[s];  // in the sequence, from 0 on
            if (place < kept) {
                *to++ = codes[i++];
                continue;
            }
            const std::int64_t n = std::min(offsets[s + 1] - i, within - (place - kept) % within);
            auto number = [&](std::int64_t j) {
                return random_number(seeds[s], static_cast<std::uint64_t>(place + j + 1)) >> UNUSED_BITS;
            };
            if (n < (std::int64_t{1} << UNUSED_BITS)) {
                keys.resize(n);
                for (std::int64_t j = 0; j < n; ++j)
                    keys[j] = number(j) << UNUSED_BITS | static_cast<std::uint64_t>(j);
                std::sort(keys.begin(), keys.end());
                constexpr std::uint64_t places = (std::uint64_t{1} << UNUSED_BITS) - 1;
                for (auto key : keys) *to++ = codes[i + static_cast<std::int64_t>(key & places)];
            } else {
                many.resize(n);
                for (std::int64_t j = 0; j < n; ++j) many[j] = {number(j), j};
                std::sort(many.begin(), many.end());
                for (const auto& key : many) *to++ = codes[i + key.second];
            }
            i += n;
        }
    }
}

}  // namespace summarkov
