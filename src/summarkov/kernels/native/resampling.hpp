// Random numbers.
#pragma once

#include <cstdint>

#include "index.hpp"

namespace summarkov {

// SplitMix64: the number that comes `step` steps after a seed.
inline std::uint64_t random_number(std::uint64_t seed, std::uint64_t step) {
    std::uint64_t x = seed + step * 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

// A number from 0 on that is less than `n`, which has at most 32 bits.
inline std::int64_t random_below(std::uint64_t seed, std::uint64_t step, std::int64_t n) {
    return static_cast<std::int64_t>((random_number(seed, step) >> 32) * static_cast<std::uint64_t>(n) >> 32);
}

}  // namespace summarkov
