// Small trees over levels of features: grown where they gain most, and read; see boosted.py.
#pragma once

#include <utility>

#include "index.hpp"

namespace summarkov {

struct Growth {
    std::int64_t n_levels, leaves;
    double penalty, unit, least_gain, least;

    double worth(double gradient, double variance) const { return gradient * gradient / (variance + penalty); }
};

struct Levels {
    const std::uint8_t* data;  // [feature][row]
    std::int64_t n_rows;
    const std::uint8_t* of(std::int64_t feature) const { return data + feature * n_rows; }
};

// Of features that are the same in most rows: that level, and the other rows. Of others nothing is kept.
struct Rare {
    std::vector<std::uint8_t> usual;
    std::vector<std::vector<std::int32_t>> others;
    std::vector<bool> known;

    Rare(const Levels& levels, std::int64_t n_features, Span<std::int32_t> rows)
        : usual(n_features), others(n_features), known(n_features) {
        std::vector<std::int64_t> times(256);
        for (std::int64_t f = 0; f < n_features; ++f) {
            const std::uint8_t* level = levels.of(f);
            std::fill(times.begin(), times.end(), 0);
            for (const std::int32_t row : rows) ++times[level[row]];
            const auto most = std::max_element(times.begin(), times.end());
            known[f] = *most * 2 > rows.size;
            if (!known[f]) continue;
            usual[f] = static_cast<std::uint8_t>(most - times.begin());
            others[f].reserve(rows.size - *most);
            for (const std::int32_t row : rows)
                if (level[row] != usual[f]) others[f].push_back(row);
        }
    }
};

struct Split {
    double gain = 0;
    std::int64_t at = 0;
    std::int64_t level = 0;
};

// One tree while it grows. `values` has two numbers per row.
class GrowingTree {
  public:
    GrowingTree(const Levels& levels, const Rare& rare, std::vector<std::int64_t> features, const Count* values,
                const Growth& how)
        : levels_(levels), rare_(rare), features_(std::move(features)), values_(values), how_(how),
          is_here_(levels.n_rows) {}

    void grow(Span<std::int32_t> rows, std::int32_t* leaf, std::int32_t* feature, std::int32_t* level, Count* sums) {
        leaves_.clear();
        leaves_.push_back({std::vector<std::int32_t>(rows.begin(), rows.end()), {}, {}});
        leaves_[0].sums = level_sums(leaves_[0].rows);
        leaves_[0].best = best(leaves_[0].sums);
        for (std::int64_t k = 0; k + 1 < how_.leaves; ++k) {
            std::size_t chosen = 0;
            for (std::size_t i = 1; i < leaves_.size(); ++i)
                if (leaves_[i].best.gain > leaves_[chosen].best.gain) chosen = i;
            const Split split = leaves_[chosen].best;
            if (split.gain <= how_.least_gain) break;
            divide(chosen, split);
            leaf[k] = static_cast<std::int32_t>(chosen);
            feature[k] = static_cast<std::int32_t>(features_[split.at]);
            level[k] = static_cast<std::int32_t>(split.level);
        }
        for (std::size_t l = 0; l < leaves_.size(); ++l)
            for (const std::int32_t row : leaves_[l].rows)
                for (int side = 0; side < 2; ++side) sums[2 * l + side] += values_[2 * row + side];
    }

  private:
    struct Leaf {
        std::vector<std::int32_t> rows;
        std::vector<Count> sums;  // [feature][level][2]
        Split best;
    };

    void divide(std::size_t chosen, const Split& split) {
        const std::uint8_t* level = levels_.of(features_[split.at]);
        Leaf low, high;
        for (const std::int32_t row : leaves_[chosen].rows) (level[row] > split.level ? high : low).rows.push_back(row);
        const bool is_high_small = high.rows.size() < low.rows.size();
        Leaf& small = is_high_small ? high : low;
        Leaf& large = is_high_small ? low : high;
        small.sums = level_sums(small.rows);
        large.sums = std::move(leaves_[chosen].sums);
        for (std::size_t i = 0; i < small.sums.size(); ++i) large.sums[i] -= small.sums[i];
        low.best = best(low.sums);
        high.best = best(high.sums);
        leaves_[chosen] = std::move(low);
        leaves_.push_back(std::move(high));
    }

    // Rows in a row mostly have the same level, and a sum must wait for the one before it; four sums need not.
    std::vector<Count> level_sums(const std::vector<std::int32_t>& rows) {
        const std::int64_t size = how_.n_levels * 2, n = static_cast<std::int64_t>(rows.size());
        std::vector<Count> sums(features_.size() * size, 0), apart(4 * size), own(2 * n);
        Count all[2] = {0, 0};
        for (std::int64_t i = 0; i < n; ++i)
            for (int side = 0; side < 2; ++side) all[side] += own[2 * i + side] = values_[2 * rows[i] + side];
        for (const std::int32_t row : rows) is_here_[row] = 1;
        for (std::size_t f = 0; f < features_.size(); ++f) {
            const std::uint8_t* level = levels_.of(features_[f]);
            const auto& others = rare_.others[features_[f]];
            if (rare_.known[features_[f]] && static_cast<std::int64_t>(others.size()) < n) {
                Count* to = sums.data() + f * size;
                Count rest[2] = {all[0], all[1]};
                for (const std::int32_t row : others) {
                    if (!is_here_[row]) continue;
                    for (int side = 0; side < 2; ++side) {
                        to[2 * level[row] + side] += values_[2 * row + side];
                        rest[side] -= values_[2 * row + side];
                    }
                }
                for (int side = 0; side < 2; ++side) to[2 * rare_.usual[features_[f]] + side] = rest[side];
                continue;
            }
            std::fill(apart.begin(), apart.end(), 0);
            const auto add = [&](std::int64_t i, std::int64_t part) {
                Count* cell = apart.data() + part * size + 2 * level[rows[i]];
                cell[0] += own[2 * i];
                cell[1] += own[2 * i + 1];
            };
            std::int64_t i = 0;
            for (; i + 3 < n; i += 4)
                for (int part = 0; part < 4; ++part) add(i + part, part);
            for (; i < n; ++i) add(i, 0);
            Count* to = sums.data() + f * size;
            for (std::int64_t c = 0; c < size; ++c)
                to[c] = apart[c] + apart[size + c] + apart[2 * size + c] + apart[3 * size + c];
        }
        for (const std::int32_t row : rows) is_here_[row] = 0;
        return sums;
    }

    Split best(const std::vector<Count>& sums) const {
        Split found;
        for (std::size_t f = 0; f < features_.size(); ++f) {
            const Count* cell = sums.data() + f * how_.n_levels * 2;
            Count below[2] = {0, 0}, all[2] = {0, 0};
            for (std::int64_t l = 0; l < how_.n_levels; ++l)
                for (int side = 0; side < 2; ++side) all[side] += cell[2 * l + side];
            const double gradient = static_cast<double>(all[0]) * how_.unit;
            const double variance = static_cast<double>(all[1]) * how_.unit;
            const double worth = how_.worth(gradient, variance);
            for (std::int64_t l = 0; l + 1 < how_.n_levels; ++l) {
                for (int side = 0; side < 2; ++side) below[side] += cell[2 * l + side];
                const double low_gradient = static_cast<double>(below[0]) * how_.unit;
                const double low = static_cast<double>(below[1]) * how_.unit;
                const double high = variance - low;
                if (!(low > how_.least) || !(high > how_.least)) continue;
                const double gain = how_.worth(low_gradient, low) + how_.worth(gradient - low_gradient, high) - worth;
                if (gain > found.gain) found = {gain, static_cast<std::int64_t>(f), l};
            }
        }
        return found;
    }

    const Levels& levels_;
    const Rare& rare_;
    std::vector<std::int64_t> features_;
    const Count* values_;
    const Growth& how_;
    std::vector<std::uint8_t> is_here_;  // of each row, while a leaf is summed up
    std::vector<Leaf> leaves_;
};

// The leaf in which each row ends, for one tree.
inline void leaves_of(const Levels& levels, const std::int32_t* leaf, const std::int32_t* feature,
                      const std::int32_t* level, std::int64_t n_splits, std::uint8_t* to) {
    std::fill_n(to, levels.n_rows, std::uint8_t{0});
    for (std::int64_t k = 0; k < n_splits && leaf[k] >= 0; ++k) {
        const std::uint8_t* here = levels.of(feature[k]);
        const auto from = static_cast<std::uint8_t>(leaf[k]);
        const auto limit = static_cast<std::uint8_t>(level[k]);
        const auto next = static_cast<std::uint8_t>(k + 1);
        for (std::int64_t i = 0; i < levels.n_rows; ++i) to[i] = to[i] == from && here[i] > limit ? next : to[i];
    }
}

}  // namespace summarkov
