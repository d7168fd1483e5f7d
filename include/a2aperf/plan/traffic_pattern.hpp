// SPDX-License-Identifier: BSD-3-Clause
// Traffic as people ask for it: a generator with its value, or a matrix out of a file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "a2aperf/base/random.hpp"
#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/traffic_matrix.hpp"

namespace a2aperf {

struct TrafficGenerator {
    std::string_view name;
    std::string_view example; // "zipf=1.2"; of one without a value its name
    std::string_view formula; // for people: help, docs
    // Of its value; both 0: it has none.
    double least = 0, most = 0;
    std::string_view suffix; // of the value: "x", "%"
    bool is_whole = false;
    // Null: uniform, which needs no matrix. Throws UsageError where the layout does not allow it.
    TrafficMatrix (*make)(double value, const Layout& layout, Random random) = nullptr;
};

// All generators, in the order of the help.
std::span<const TrafficGenerator> traffic_generators();

class TrafficPattern {
public:
    // "uniform", "zipf=1.2", "hot-rank=3x". Throws UsageError that names the ones there are, or a right value.
    static TrafficPattern parse(std::string_view text);
    // Of a file, with its name and its words; by the end of the name it is .mtx or .csv. Throws UsageError.
    static TrafficPattern parse_file(std::string_view name, std::string_view words);
    static bool is_file(std::string_view text) { return text.ends_with(".mtx") || text.ends_with(".csv"); }

    const std::string& name() const { return name_; } // "zipf=1.2"; of a file without its folder
    bool is_uniform() const { return generator_ != nullptr && generator_->make == nullptr; }
    // Not of uniform traffic. The same arguments give the same matrix. Throws UsageError: another number of ranks
    // than the file's, a value that these ranks don't allow, nothing to send.
    TrafficMatrix matrix(const Layout& layout, std::uint64_t seed) const;

private:
    std::string name_;
    const TrafficGenerator* generator_ = nullptr;
    double value_ = 0;
    std::shared_ptr<const TrafficMatrix> of_file_;
};

} // namespace a2aperf
