// SPDX-License-Identifier: BSD-3-Clause
// A matrix of traffic, as Matrix Market and as lines with commas (src/plan/traffic_matrix.cpp).
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "a2aperf/plan/traffic_matrix.hpp"
#include "property.hpp"

using namespace a2aperf;
using fuzz::is_accepted;
using fuzz::require;

namespace {

constexpr std::uint64_t kLargestWeight = std::uint64_t{1} << 40U;
constexpr int kMostWritten = 64; // of ranks: to write a large one out tells no more

std::string csv_of(const TrafficMatrix& matrix) {
    std::string text;
    for (Rank from = 0; from < matrix.ranks(); ++from)
        for (Rank to = 0; to < matrix.ranks(); ++to)
            text += fmt::format("{}{}", matrix.weight(from, to), to + 1 < matrix.ranks() ? ',' : '\n');
    return text;
}

std::string mtx_of(const TrafficMatrix& matrix) {
    std::string entries;
    int count = 0;
    for (Rank from = 0; from < matrix.ranks(); ++from)
        for (Rank to = 0; to < matrix.ranks(); ++to) {
            if (matrix.weight(from, to) == 0) continue;
            entries += fmt::format("{} {} {}\n", from + 1, to + 1, matrix.weight(from, to));
            ++count;
        }
    return fmt::format("%%MatrixMarket matrix coordinate integer general\n{0} {0} {1}\n{2}", matrix.ranks(), count,
                       entries);
}

void check(const TrafficMatrix& matrix) {
    const int ranks = matrix.ranks();
    require(ranks >= 2 && ranks <= kMostTrafficRanks, "2 to 1024 ranks", fmt::to_string(ranks));
    for (Rank from = 0; from < ranks; ++from) {
        require(matrix.weight(from, from) == 0, "no rank sends to itself");
        for (Rank to = 0; to < ranks; ++to)
            require(matrix.weight(from, to) <= kLargestWeight, "a weight is at most 2^40");
    }
    if (ranks > kMostWritten) return;
    require(parse_csv_matrix(csv_of(matrix)).digest() == matrix.digest(), "written as lines it is the same");
    require(parse_mtx(mtx_of(matrix)).digest() == matrix.digest(), "written as Matrix Market it is the same");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    TrafficMatrix matrix(2);
    if (is_accepted([&] { matrix = parse_mtx(text); })) check(matrix);
    if (is_accepted([&] { matrix = parse_csv_matrix(text); })) check(matrix);
    return 0;
}
