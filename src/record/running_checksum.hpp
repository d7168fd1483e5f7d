// SPDX-License-Identifier: BSD-3-Clause
// The checksum of a declared group, going on with what changes there: of all the rest nothing is read.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "h5.hpp"

namespace a2aperf {

// What has changed is given as the checksum has it (docs/file-format.md): as the file says it, and NaN where a cell
// that is counted holds nothing.
class RunningChecksum {
public:
    RunningChecksum(const h5::Group& group, std::int64_t now);
    std::int64_t value() const { return value_; }
    // Some elements of a dataset, each once. places: one index per dimension, element after element.
    void change(const std::string& dataset, const std::vector<std::uint64_t>& places, std::span<const char> before,
                std::span<const char> after);
    void change_all(const std::string& dataset, std::span<const char> before, std::span<const char> after);

private:
    struct Values {
        std::uint64_t begin; // in what the checksum is over
        h5::Shape shape;
    };
    void change_at(std::uint64_t begin, std::span<const char> before, std::span<const char> after);

    std::map<std::string, Values> values_; // of each dataset
    std::uint64_t bytes_ = 0;              // that the checksum is over
    std::int64_t value_;
};

} // namespace a2aperf
