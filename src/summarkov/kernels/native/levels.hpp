// Sums over rows by the level that each has in each of many features.
#pragma once

#include "index.hpp"

namespace summarkov {

// Add both values of each row to the cell of its level, feature by feature: sums[feature][level][2].
// `levels` has one row of `n_rows` levels per feature, all of them below `n_levels`.
inline void level_sums(const std::uint8_t* levels, std::int64_t n_rows, Span<std::int32_t> features,
                       Span<std::int32_t> rows, const Count* values, std::int64_t n_levels, Count* sums) {
    for (std::int64_t f = 0; f < features.size; ++f) {
        const std::uint8_t* level = levels + features[f] * n_rows;
        Count* to = sums + f * n_levels * 2;
        for (std::int64_t i = 0; i < rows.size; ++i) {
            const std::int64_t row = rows[i];
            Count* cell = to + 2 * level[row];
            cell[0] += values[2 * row];
            cell[1] += values[2 * row + 1];
        }
    }
}

}  // namespace summarkov
