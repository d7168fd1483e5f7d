// SPDX-License-Identifier: BSD-3-Clause
// Traffic as people ask for it: a generator with its value, or a matrix out of a file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/base/random.hpp"
#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/traffic_matrix.hpp"

namespace a2aperf {

// Of a generator that has several, which are named and may be left out.
struct TrafficParameter {
    std::string_view name;
    double usual, least, most;
    bool is_whole;
};

// What all that is random in a matrix follows from: the launch's seed, and how many ops came before where each has
// a matrix of its own.
struct TrafficDraw {
    std::uint64_t seed;
    int number = 0;
    int tries = 0; // before, which gave a matrix that sends nothing

    Random of_launch() const { return Random(mix64(seed)); } // the same for all ops
    Random of_op() const {
        const std::uint64_t first = mix64(seed) + static_cast<std::uint64_t>(number);
        return Random(tries == 0 ? first : mix64(first) + static_cast<std::uint64_t>(tries));
    }
};

struct TrafficGenerator {
    std::string_view name;
    std::string_view example; // "zipf=1.2"; of one without a value its name
    std::string_view formula; // for people: help, docs
    // Of its value; both 0: it has none.
    double least = 0, most = 0;
    std::string_view suffix; // of the value: "x", "%"
    bool is_whole = false;
    // Null: uniform, which needs no matrix. Throws UsageError where the layout does not allow it. values: the one,
    // or those of all parameters.
    TrafficMatrix (*make)(std::span<const double> values, const Layout& layout, const TrafficDraw& draw) = nullptr;
    bool is_drawn = false; // the seed decides
    bool moves = false;    // from op to op: it has no meaning else
    std::span<const TrafficParameter> parameters{};
    // Why these together are refused; empty where they are not.
    std::string (*refusal)(std::span<const double> values) = nullptr;
};

// All generators, in the order of the help.
std::span<const TrafficGenerator> traffic_generators();

class TrafficPattern {
public:
    // "uniform", "zipf=1.2", "hot-rank=3x", "moe(experts=8,top=2)". Throws UsageError that names the ones there
    // are, or a right value.
    static TrafficPattern parse(std::string_view text);
    // Of a file, with its name and its words; by the end of the name it is .mtx or .csv. Throws UsageError.
    static TrafficPattern parse_file(std::string_view name, std::string_view words);
    static bool is_file(std::string_view text) { return text.ends_with(".mtx") || text.ends_with(".csv"); }

    const std::string& name() const {
        return name_;
    } // "zipf=1.2", with all parameters; of a file without its folder
    bool is_uniform() const { return generator_ != nullptr && generator_->make == nullptr; }
    bool is_drawn() const { return generator_ != nullptr && generator_->is_drawn; }
    bool moves() const { return generator_ != nullptr && generator_->moves; }
    // How many matrices are drawn where each op has one of its own; some may be equal.
    int draws(int ranks) const;
    // Not of uniform traffic. number: of the op, where each has a matrix of its own. The same arguments give the
    // same matrix. What is drawn and sends nothing is drawn again, kMostDraws times at most. Throws UsageError:
    // another number of ranks than the file's, a value that these ranks don't allow, nothing to send.
    TrafficMatrix matrix(const Layout& layout, std::uint64_t seed, int number = 0) const;

private:
    static constexpr int kMostDraws = 1000;

    std::string name_;
    const TrafficGenerator* generator_ = nullptr;
    std::vector<double> values_;
    std::shared_ptr<const TrafficMatrix> of_file_;
};

} // namespace a2aperf
