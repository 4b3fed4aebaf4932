// Counts under many weights at once.
#pragma once

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

}  // namespace summarkov
