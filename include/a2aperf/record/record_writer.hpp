// SPDX-License-Identifier: BSD-3-Clause
// Records of named fields as csv (RFC 4180) or as a list of JSON objects.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/record/columns.hpp"

namespace a2aperf {

class RecordWriter {
public:
    RecordWriter(bool is_json, std::vector<std::string_view> names) : is_json_(is_json), names_(std::move(names)) {}

    std::string header() const; // csv: the names, json: the opening bracket
    // In the order of the names; nothing where a value is unknown.
    std::string row(std::span<const std::optional<Value>> fields);
    std::string footer() const { return is_json_ ? "\n]\n" : ""; }

private:
    bool is_json_;
    std::vector<std::string_view> names_;
    bool is_first_ = true; // json: no comma before it
};

// A figure as a field: nothing where it is no number.
std::optional<Value> known(double figure);

} // namespace a2aperf
