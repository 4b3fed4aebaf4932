// What Python hands over as the kernels look at it, and keys as Python gets them.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <optional>

#include "count.hpp"

namespace summarkov {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;

template <class T>
Span<T> span(const Array<T>& array) {
    return {array.data(), array.size()};
}

// Keeps the arrays alive that its index looks into.
struct PyIndex {
    Array<std::int32_t> codes;
    Array<std::int64_t> offsets;
    Index index;

    PyIndex(Array<std::int32_t> codes_, Array<std::int64_t> offsets_, std::int64_t n_labels)
        : codes(std::move(codes_)), offsets(std::move(offsets_)), index(span(codes), span(offsets), n_labels) {}
};

inline Window window_of(int kind, const Array<std::int64_t>& lookback, std::int64_t delay, std::int64_t cap) {
    const auto reach = span(lookback);
    const Position longest = reach.size ? *std::max_element(reach.begin(), reach.end()) : 1;
    return {static_cast<Kind>(kind), reach, delay, cap, longest};
}

// Where rows stand, as Python gives it: see Reach. Nothing where every row is a position of its own.
struct PyReach {
    Array<std::int32_t> first, before;
    std::vector<Array<std::int32_t>> ends;
    Array<std::int32_t> of;
    Array<bool> attributes;
    Array<std::int32_t> farthest;
    Reach reach;
    bool is_timed;  // whether there is nothing but one look-back in time: see Timed

    PyReach(Array<std::int32_t> first_, Array<std::int32_t> before_, std::vector<Array<std::int32_t>> ends_,
            Array<std::int32_t> of_, Array<bool> attributes_, Array<std::int32_t> farthest_, double mean)
        : first(std::move(first_)), before(std::move(before_)), ends(std::move(ends_)), of(std::move(of_)),
          attributes(std::move(attributes_)), farthest(std::move(farthest_)) {
        reach = {first.data(), before.data(), {}, farthest.data(), attributes.data(), false, mean};
        for (std::int64_t z = 0; z < of.size(); ++z) {
            reach.last.push_back(ends[of.data()[z]].data());
            if (attributes.data()[z]) reach.any_attributes = true;
        }
        is_timed = ends.size() == 1 && !reach.any_attributes && reach.in_rows(before.size() - 1);
    }
};

// Call `use` with the rows of a shard as kernels look at them.
template <class Use>
auto with_rows(const PyIndex& shard, const Window& window, const PyReach* reach, Use use) {
    if (reach && reach->is_timed) return use(Timed{shard.index, window, reach->reach});
    if (reach) return use(Placed{shard.index, window, reach->reach});
    return use(Plain{shard.index, window});
}

using MaybeWeights = std::optional<Array<std::int64_t>>;

inline Weights weights_of(const MaybeWeights& weights) {
    if (!weights) return {};
    return {span(*weights)};
}

// Keys in lexicographic order of the states that some position is in, and where each state went (or -1).
inline py::array_t<std::int32_t> ordered_keys(const Counted& counted, std::vector<std::int64_t>& row) {
    const auto& states = counted.states;
    const auto rank = states.ranking();
    std::vector<std::int64_t> by_rank(states.size());
    for (std::int64_t s = 0; s < states.size(); ++s) by_rank[rank[s]] = s;
    row.assign(states.size(), -1);
    std::int64_t n = 0;
    for (auto s : by_rank)
        if (counted.positions[s]) row[s] = n++;
    py::array_t<std::int32_t> keys({n, states.width});
    for (std::int64_t s = 0; s < states.size(); ++s)
        if (row[s] >= 0)
            std::copy_n(states.keys.data() + s * states.width, states.width, keys.mutable_data() + row[s] * states.width);
    return keys;
}

}  // namespace summarkov
