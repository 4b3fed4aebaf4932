// How much each sequence, and each block of one, moves the ratio of every edge: sums of squares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "presence.hpp"

namespace summarkov {

// What a position adds to the edges of one target, by the pattern of presence; an edge is an outcome with an influencer.
struct ClusterValues {
    Span<std::int64_t> patterns;
    Span<double> base;   // [pattern, edge], of every position
    Span<double> hit;    // [pattern, edge], of a hit beside that
};

// Rows where blocks of some targets begin that do not begin a sequence.
struct ClusterBlocks {
    Span<std::int64_t> starts;
    std::vector<std::size_t> targets;
    std::int64_t next = 0;
};

// Sums over clusters, by kind: sequences, then blocks.
struct ClusterTotals {
    std::vector<double> squares[2];           // for each edge
    std::vector<Count> clusters[2][2];        // for each influencer: with it at some position, without it at some
};

class ClusterSums {
  public:
    ClusterSums(const std::vector<ClusterValues>& values, std::vector<ClusterBlocks> blocks)
        : values_(values), blocks_(std::move(blocks)) {}

    void target(std::int64_t width, std::int64_t outcomes) {
        const auto& given = values_[targets_.size()];
        targets_.emplace_back();
        auto& target = targets_.back();
        target.width = width;
        target.edges = (outcomes - 1) * width;
        if (width <= 10) target.dense.assign(std::size_t{1} << width, -1);
        for (std::int64_t row = 0; row < given.patterns.size; ++row) {
            const auto pattern = static_cast<std::uint64_t>(given.patterns[row]);
            if (width <= 10) target.dense[pattern] = row;
            else target.sparse[pattern] = row;
        }
        for (auto& kind : target.kinds) kind.sums.assign(target.edges, 0.0);
        totals.emplace_back();
        for (auto& squares : totals.back().squares) squares.assign(target.edges, 0.0);
        for (auto& kind : totals.back().clusters)
            for (auto& side : kind) side.assign(width, 0);
    }

    void positions(std::size_t t, std::uint64_t pattern, Position n, Count) {
        auto& target = targets_[t];
        auto& block = target.kinds[1];
        block.seen[0] |= pattern;
        block.seen[1] |= ~pattern;
        const std::int64_t row = target.row(pattern);
        if (row < 0) return;
        const double* base = values_[t].base.data + row * target.edges;
        for (std::int64_t e = 0; e < target.edges; ++e) block.sums[e] += static_cast<double>(n) * base[e];
    }

    void hit(std::size_t t, std::int64_t outcome, std::uint64_t pattern, Count) {
        auto& target = targets_[t];
        const std::int64_t row = target.row(pattern);
        if (row < 0) return;
        const double* hit = values_[t].hit.data + row * target.edges;
        for (std::int64_t e = outcome * target.width; e < (outcome + 1) * target.width; ++e)
            target.kinds[1].sums[e] += hit[e];
    }

    // End the blocks that do before row `i`; `close` counts a target's positions up to there.
    template <class Close>
    void cut(Position i, Count weight, const Close& close) {
        for (auto& [starts, targets, next] : blocks_) {
            while (next < starts.size && starts[next] < i) ++next;  // those of sequences that were left out
            if (next == starts.size || starts[next] != i) continue;
            for (const std::size_t t : targets) {
                close(t);
                end_block(t, weight);
                targets_[t].is_cut = true;
            }
        }
    }

    void end(Count weight) {
        for (std::size_t t = 0; t < targets_.size(); ++t) {
            if (targets_[t].is_cut) {
                end_block(t, weight);
                add(t, 0, 0, weight);
                targets_[t].is_cut = false;
            } else {
                add(t, 1, 0, weight);  // a sequence of one block
            }
        }
    }

    std::vector<ClusterTotals> totals;

  private:
    struct Kind {
        std::vector<double> sums;
        std::uint64_t seen[2] = {0, 0};  // influencers that were present at some position, and absent
    };
    struct Target {
        std::int64_t width, edges;
        std::vector<std::int64_t> dense;
        std::unordered_map<std::uint64_t, std::int64_t> sparse;
        Kind kinds[2];
        bool is_cut = false;  // whether the sequence has more than one block

        std::int64_t row(std::uint64_t pattern) const {
            if (!dense.empty()) return dense[pattern];
            const auto found = sparse.find(pattern);
            return found == sparse.end() ? -1 : found->second;
        }
    };

    // A block is over: it is counted, and is part of its sequence.
    void end_block(std::size_t t, Count weight) {
        auto& [sequence, block] = targets_[t].kinds;
        for (std::int64_t e = 0; e < targets_[t].edges; ++e) sequence.sums[e] += block.sums[e];
        for (int side = 0; side < 2; ++side) sequence.seen[side] |= block.seen[side];
        add(t, 1, 1, weight);
    }

    // Count what was gathered for a kind, as one cluster of that kind and of those down to `least`.
    void add(std::size_t t, int gathered, int least, Count weight) {
        auto& target = targets_[t];
        auto& here = target.kinds[gathered];
        auto& to = totals[t];
        for (int kind = gathered; kind >= least; --kind)
            for (std::int64_t e = 0; e < target.edges; ++e)
                to.squares[kind][e] += static_cast<double>(weight) * here.sums[e] * here.sums[e];
        std::fill(here.sums.begin(), here.sums.end(), 0.0);
        for (int side = 0; side < 2; ++side) {
            for (std::int64_t u = 0; u < target.width; ++u)
                if (here.seen[side] >> (target.width - 1 - u) & 1)
                    for (int kind = gathered; kind >= least; --kind) to.clusters[kind][side][u] += weight;
            here.seen[side] = 0;
        }
    }

    const std::vector<ClusterValues>& values_;
    std::vector<ClusterBlocks> blocks_;
    std::vector<Target> targets_;
};

}  // namespace summarkov
