// What Python hands over as the kernels look at it, and keys as Python gets them.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "count.hpp"

namespace summarkov {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;

template <class T>
Span<T> span(const Array<T>& array) {
    return {array.data(), array.size()};
}

using MaybeWeights = std::optional<Array<std::int64_t>>;

inline Weights weights_of(const MaybeWeights& weights) {
    if (!weights) return {};
    return {span(*weights)};
}

constexpr std::int64_t UNLIMITED = std::int64_t{1} << 62;

// So many positions, or that much time.
using Far = std::pair<std::int64_t, bool>;

// A window as Python has it: kind, look-back of each label, delay, cap, which look-backs are times, and whether the
// delay is one.
struct PyWindow {
    Array<std::int64_t> lookback;
    std::optional<Array<bool>> in_time;
    Far delay;
    Window window;
    std::string name;  // equal for equal windows, whatever their kind
    bool any_time;

    explicit PyWindow(const py::tuple& given)
        : lookback(given[1].cast<Array<std::int64_t>>()), in_time(given[4].cast<std::optional<Array<bool>>>()),
          delay(given[2].cast<std::int64_t>(), given[5].cast<bool>()) {
        const auto reach = span(lookback);
        const Position longest = reach.size ? *std::max_element(reach.begin(), reach.end()) : 1;
        window = {static_cast<Kind>(given[0].cast<int>()), reach, delay.first, given[3].cast<std::int64_t>(), longest};
        any_time = delay.second;
        for (std::int64_t z = 0; z < reach.size; ++z) any_time |= far(z).second;
        name.assign(reinterpret_cast<const char*>(reach.data), reach.size * sizeof(std::int64_t));
        if (in_time) name.append(reinterpret_cast<const char*>(in_time->data()), in_time->size());
        name += "/" + std::to_string(delay.first) + (delay.second ? "t" : "");
    }

    Far far(std::int64_t z) const { return {lookback.data()[z], in_time && in_time->data()[z]}; }
};

// Where rows stand in the windows: see Reach.
struct PyReach {
    Reach reach;
    std::vector<std::int32_t> farthest;
    bool is_timed;  // whether there is nothing but one look-back in time: see Timed
};

// Rows as Python has them, and what is looked up of them again and again. It is filled in while Python waits.
struct PyIndex {
    Array<std::int32_t> codes;
    Array<std::int64_t> offsets;
    std::optional<Array<bool>> starts;             // of each row whether it begins a position; nothing: each does
    Array<bool> attributes;                        // of each code, and last of none
    std::optional<Array<std::int64_t>> times, asked;  // of each row, and from when it looks back, if not from there
    std::int64_t unit;
    Index index;
    bool in_rows = true;  // whether every row is a position of its own

    PyIndex(Array<std::int32_t> codes_, Array<std::int64_t> offsets_, std::int64_t n_labels,
            std::optional<Array<bool>> starts_, Array<bool> attributes_, std::optional<Array<std::int64_t>> times_,
            std::int64_t unit_, std::optional<Array<std::int64_t>> asked_)
        : codes(std::move(codes_)), offsets(std::move(offsets_)), starts(std::move(starts_)),
          attributes(std::move(attributes_)), times(std::move(times_)), asked(std::move(asked_)), unit(unit_),
          index(span(codes), span(offsets), n_labels) {
        if (starts)
            for (Position i = 0; i < index.codes.size && in_rows; ++i) in_rows = begins(i);
    }

    bool is_attribute(Position i) const { return index.codes[i] >= 0 && attributes.data()[index.codes[i]]; }
    bool begins(Position i) const { return !starts || (starts->data()[i] && !is_attribute(i)); }

    // Positions that begin before each row, and in all.
    const std::vector<std::int32_t>& before() {
        if (before_.empty()) {
            before_.assign(index.codes.size + 1, 0);
            for (Position i = 0; i < index.codes.size; ++i) before_[i + 1] = before_[i] + begins(i);
        }
        return before_;
    }

    // For each row the last row at which it is in a window that reaches back so far.
    const std::vector<std::int32_t>& ends(Far far) {
        const auto [found, is_new] = ends_.try_emplace(far);
        if (!is_new) return found->second;
        const bool timed = far.second && far.first < UNLIMITED;
        const std::int64_t size = timed ? far.first / unit : far.first;
        const std::int64_t* clock = timed ? times->data() : nullptr;
        const std::int64_t* now = timed && asked ? asked->data() : clock;
        const auto& ticks = before();
        auto& to = found->second;
        to.resize(index.codes.size);
        for (std::int64_t s = 0; s < index.n_sequences(); ++s) {
            Position p = index.offsets[s];
            const Position stop = index.offsets[s + 1];
            for (Position j = p; j < stop; ++j) {
                if (is_attribute(j)) {
                    to[j] = static_cast<std::int32_t>(stop - 1);
                    continue;
                }
                while (p < stop && (is_attribute(p) || (timed ? now[p] - clock[j] : ticks[p + 1] - ticks[j + 1]) <= size)) ++p;
                to[j] = static_cast<std::int32_t>(p - 1);
            }
        }
        return to;
    }

    // For each row the first row at which it is in a window with such a delay.
    const std::vector<std::int32_t>& firsts(Far delay) {
        const auto [found, is_new] = firsts_.try_emplace(delay);
        if (!is_new) return found->second;
        auto& to = found->second;
        to = ends(delay);
        for (auto& row : to) ++row;
        for (std::int64_t s = 0; s < index.n_sequences(); ++s) {
            Position head = index.offsets[s];
            while (head < index.offsets[s + 1] && is_attribute(head)) ++head;
            for (Position j = index.offsets[s]; j < head; ++j) to[j] = static_cast<std::int32_t>(head);
        }
        return to;
    }

    // Where rows stand in some windows; nothing where every row is a position of its own.
    const PyReach* reach(const PyWindow& window) {
        if (in_rows && !(window.any_time && times)) return nullptr;
        auto& found = reaches_[window.name];
        if (found) return found.get();
        found = std::make_unique<PyReach>();
        auto& reach = found->reach;
        reach = {firsts(window.delay).data(), before().data(), {}, nullptr, attributes.data(), false, 0.0};
        std::map<Far, const std::int32_t*> spans;  // of labels but attributes
        for (std::int64_t z = 0; z < index.n_labels; ++z) {
            reach.last.push_back(ends(window.far(z)).data());
            if (attributes.data()[z]) reach.any_attributes = true;
            else spans[window.far(z)] = reach.last.back();
        }
        const std::int64_t n = index.codes.size;
        auto& farthest = found->farthest;
        farthest.assign(n, -1);
        for (const auto& each : spans)
            for (Position j = 0; j < n; ++j) farthest[j] = std::max(farthest[j], each.second[j]);
        for (Position j = 0; j < n; ++j) reach.mean += static_cast<double>(farthest[j] - j);
        if (n) reach.mean /= static_cast<double>(n);
        reach.farthest = farthest.data();
        found->is_timed = spans.size() == 1 && !reach.any_attributes && reach.in_rows(n);
        return found.get();
    }

    // At how many positions each label is present, by level, under the weights that were asked about last.
    struct Totals {
        py::object weights;
        std::vector<Count> counts;
    };
    std::map<std::string, Totals> totals;

  private:
    std::vector<std::int32_t> before_;
    std::map<Far, std::vector<std::int32_t>> ends_, firsts_;
    std::map<std::string, std::unique_ptr<PyReach>> reaches_;
};

// Call `use` with the rows of a shard as kernels look at them.
template <class Use>
auto with_rows(const PyIndex& shard, const Window& window, const PyReach* reach, Use use) {
    if (reach && reach->is_timed) return use(Timed{shard.index, window, reach->reach});
    if (reach) return use(Placed{shard.index, window, reach->reach});
    return use(Plain{shard.index, window});
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
