// SPDX-License-Identifier: BSD-3-Clause
// Columns by where their values come from: what was asked, a member of the result, a place in the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "a2aperf/record/columns.hpp"

namespace a2aperf::column_sources {

template <class T>
Value to_value(const T& value) {
    if constexpr (std::is_floating_point_v<T>)
        return static_cast<double>(value);
    else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
        return static_cast<std::int64_t>(value);
    else
        return std::string(value);
}

template <class T>
void from_value(const Value& value, T& target) {
    if constexpr (std::is_floating_point_v<T>)
        target = std::get<double>(value);
    else
        target = static_cast<T>(std::get<std::int64_t>(value));
}

inline Column named(std::string_view name, ValueType kind, std::string_view units, std::string_view long_name) {
    Column column;
    column.name = name;
    column.kind = kind;
    column.units = units;
    column.long_name = long_name;
    return column;
}

template <class Access>
Column asked(std::string_view name, ValueType kind, std::string_view long_name, WideFormat wide, Access access) {
    Column column = named(name, kind, {}, long_name);
    column.wide = wide;
    column.asked = [access](const PointRequest& a) { return to_value(access(a)); };
    return column;
}

// Where a member sits in a result (const or not).
template <class Result, class T>
auto& reach(Result& r, T PointResult::*member) {
    return r.*member;
}
template <class Result, class T>
auto& reach(Result& r, T Summary::*member) {
    return r.summary.*member;
}
template <class Result, class T>
auto& reach(Result& r, T Bandwidths::*member) {
    return r.summary.gbps.*member;
}

template <class Member>
Column figure(std::string_view name, ValueType kind, std::string_view units, std::string_view long_name,
              WideFormat wide, Member member) {
    Column column = named(name, kind, units, long_name);
    column.wide = wide;
    column.outcome = [member](const PointResult& r) { return to_value(reach(r, member)); };
    column.restore = [member](PointResult& r, const Value& v) { from_value(v, reach(r, member)); };
    return column;
}

inline Column place(std::string_view name, std::string_view long_name, int FilePosition::*member) {
    Column column = named(name, ValueType::int32, {}, long_name);
    column.has_unknown = true;
    column.place = [member](const FilePosition& p) { return std::int64_t{p.*member}; };
    return column;
}

inline Column with_units(Column column, std::string_view units) {
    column.units = units;
    return column;
}

inline Column with_unknown(Column column) {
    column.has_unknown = true;
    return column;
}

inline Column with_better(Column column, Better better) {
    column.better = better;
    return column;
}

inline Column with_flags(Column column, std::vector<std::string_view> flags) {
    column.flags = std::move(flags);
    return column;
}

} // namespace a2aperf::column_sources
