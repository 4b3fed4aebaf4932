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

// Features that are the same in most rows, by row: where a row has another level than the usual one, the feature
// and that level. So a leaf of few rows is summed up as fast as it is small.
struct Rare {
    std::vector<std::uint8_t> usual;
    std::vector<std::int64_t> n_levels;  // of each feature, counted from 0 to its highest
    std::vector<bool> known;  // whether a feature has a usual level
    std::vector<std::int64_t> start;
    std::vector<std::uint32_t> others;  // feature * 256 + level, of row i from start[i] to start[i + 1]

    Rare(const Levels& levels, std::int64_t n_features)
        : usual(n_features), n_levels(n_features, 1), known(n_features), start(levels.n_rows + 1) {
        for (std::int64_t f = 0; f < n_features; ++f) {
            std::vector<std::int64_t> times(256);
            const std::uint8_t* level = levels.of(f);
            for (std::int64_t i = 0; i < levels.n_rows; ++i) ++times[level[i]];
            for (std::int64_t l = 0; l < 256; ++l)
                if (times[l]) n_levels[f] = l + 1;
            const auto most = std::max_element(times.begin(), times.end());
            known[f] = *most * 2 > levels.n_rows;
            usual[f] = static_cast<std::uint8_t>(most - times.begin());
            if (!known[f]) continue;
            for (std::int64_t i = 0; i < levels.n_rows; ++i) start[i + 1] += level[i] != usual[f];
        }
        for (std::int64_t i = 0; i < levels.n_rows; ++i) start[i + 1] += start[i];
        others.resize(start.back());
        std::vector<std::int64_t> next(start.begin(), start.end() - 1);
        for (std::int64_t f = 0; f < n_features; ++f) {
            const std::uint8_t* level = levels.of(f);
            for (std::int64_t i = 0; known[f] && i < levels.n_rows; ++i)
                if (level[i] != usual[f]) others[next[i]++] = static_cast<std::uint32_t>(f << 8) | level[i];
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
          begin_(features_.size() + 1, 0) {
        for (std::size_t f = 0; f < features_.size(); ++f)
            begin_[f + 1] = begin_[f] + 2 * rare.n_levels[features_[f]];
        place_.assign(rare.usual.size(), begin_.back());
        for (std::size_t f = 0; f < features_.size(); ++f) place_[features_[f]] = begin_[f];
    }

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
        std::vector<Count> sums;  // [feature][level][2], each feature with as many levels as it has
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

    // Both numbers are read before either is written, so that they can be added at once.
    static void add_pair(Count* to, const Count* from) {
        const Count first = to[0] + from[0], second = to[1] + from[1];
        to[0] = first;
        to[1] = second;
    }

    // Rows in a row mostly have the same level, and a sum must wait for the one before it; four sums need not.
    std::vector<Count> level_sums(const std::vector<std::int32_t>& rows) {
        const std::int64_t n = static_cast<std::int64_t>(rows.size());
        std::vector<Count> sums(begin_.back() + 2 * 256, 0), apart, own(2 * n);
        Count all[2] = {0, 0};
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int32_t row = rows[i];
            for (int side = 0; side < 2; ++side) all[side] += own[2 * i + side] = values_[2 * row + side];
            for (std::int64_t k = rare_.start[row]; k < rare_.start[row + 1]; ++k) {
                add_pair(sums.data() + place_[rare_.others[k] >> 8] + 2 * (rare_.others[k] & 255), &own[2 * i]);
            }
        }
        for (std::size_t f = 0; f < features_.size(); ++f) {
            Count* to = sums.data() + begin_[f];
            const std::int64_t size = begin_[f + 1] - begin_[f];
            if (rare_.known[features_[f]]) {
                Count* usual = to + 2 * rare_.usual[features_[f]];
                Count rest[2] = {all[0], all[1]};
                for (std::int64_t c = 0; c < size; ++c) rest[c & 1] -= to[c];
                usual[0] = rest[0];
                usual[1] = rest[1];
                continue;
            }
            const std::uint8_t* level = levels_.of(features_[f]);
            apart.assign(4 * size, 0);
            const auto add = [&](std::int64_t i, std::int64_t part) {
                add_pair(apart.data() + part * size + 2 * level[rows[i]], &own[2 * i]);
            };
            std::int64_t i = 0;
            for (; i + 3 < n; i += 4)
                for (int part = 0; part < 4; ++part) add(i + part, part);
            for (; i < n; ++i) add(i, 0);
            for (std::int64_t c = 0; c < size; ++c)
                to[c] = apart[c] + apart[size + c] + apart[2 * size + c] + apart[3 * size + c];
        }
        sums.resize(begin_.back());
        return sums;
    }

    // A level that no row has moves nothing, so the gain there is that of the level before.
    Split best(const std::vector<Count>& sums) const {
        Split found;
        Count all[2] = {0, 0};  // every feature has the same sum over its levels
        for (std::int64_t c = 0; !features_.empty() && c < begin_[1]; ++c) all[c & 1] += sums[c];
        const double gradient = static_cast<double>(all[0]) * how_.unit;
        const double variance = static_cast<double>(all[1]) * how_.unit;
        const double worth = how_.worth(gradient, variance);
        for (std::size_t f = 0; f < features_.size(); ++f) {
            const Count* cell = sums.data() + begin_[f];
            const std::int64_t n_levels = (begin_[f + 1] - begin_[f]) / 2;
            Count below[2] = {0, 0};
            for (std::int64_t l = 0; l + 1 < n_levels; ++l) {
                if (!cell[2 * l] && !cell[2 * l + 1]) continue;
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
    std::vector<std::int64_t> begin_;  // where the sums of each feature that is looked at begin
    std::vector<std::int64_t> place_;  // the same by feature; those not looked at are summed up behind the others
    std::vector<Leaf> leaves_;
};

// Adds what one tree says of each row; some rows at a time, so that their leaves stay near.
inline void add_tree(const Levels& levels, const std::int32_t* leaf, const std::int32_t* feature,
                     const std::int32_t* level, std::int64_t n_splits, const double* value, double* said) {
    std::uint8_t ends[4096];
    for (std::int64_t start = 0; start < levels.n_rows; start += 4096) {
        const std::int64_t n = std::min<std::int64_t>(4096, levels.n_rows - start);
        std::fill_n(ends, n, std::uint8_t{0});
        for (std::int64_t k = 0; k < n_splits && leaf[k] >= 0; ++k) {
            const std::uint8_t* here = levels.of(feature[k]) + start;
            const auto from = static_cast<std::uint8_t>(leaf[k]);
            const auto limit = static_cast<std::uint8_t>(level[k]);
            const auto next = static_cast<std::uint8_t>(k + 1);
            for (std::int64_t i = 0; i < n; ++i) ends[i] = (ends[i] == from) & (here[i] > limit) ? next : ends[i];
        }
        for (std::int64_t i = 0; i < n; ++i) said[start + i] += value[ends[i]];
    }
}

}  // namespace summarkov
