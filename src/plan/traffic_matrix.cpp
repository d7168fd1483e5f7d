// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic_matrix.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"

namespace a2aperf {

std::uint64_t TrafficMatrix::total() const {
    return std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0});
}

std::uint64_t TrafficMatrix::digest() const {
    auto digest = static_cast<std::uint64_t>(ranks_);
    for (const std::uint64_t weight : weights_) digest = mix64(digest ^ weight);
    return std::max<std::uint64_t>(digest >> 1U, 1);
}

TrafficMatrix TrafficMatrix::of_numbers(int ranks, const std::vector<double>& numbers) {
    constexpr double kLargestWeight = 1ULL << 40U;
    double largest = 0;
    bool is_whole = true;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (i % static_cast<std::size_t>(ranks + 1) == 0) continue; // the diagonal, which is not sent
        largest = std::max(largest, numbers[i]);
        is_whole &= numbers[i] == std::floor(numbers[i]);
    }
    const double scale = is_whole && largest <= kLargestWeight ? 1 : kLargestWeight / largest;
    if (!std::isfinite(scale))
        throw UsageError(
            fmt::format("its largest number is {}: larger ones are expected, of which all are shares", largest));
    TrafficMatrix matrix(ranks);
    std::size_t place = 0;
    for (Rank from = 0; from < ranks; ++from)
        for (Rank to = 0; to < ranks; ++to) {
            const double number = numbers[place++];
            if (from == to || number == 0) continue;
            matrix.set(from, to,
                       std::max<std::uint64_t>(static_cast<std::uint64_t>(std::round(number * scale)), 1));
        }
    return matrix;
}

namespace {

// Lines that say something, with their numbers in the file.
class Lines {
public:
    Lines(std::string_view text, char comment) : rest_(text), comment_(comment) {}

    std::optional<std::string_view> next() {
        while (!rest_.empty()) {
            const std::size_t end = rest_.find('\n');
            std::string_view line = rest_.substr(0, end);
            rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
            ++number_;
            while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
                line.remove_suffix(1);
            if (!line.empty() && line.front() != comment_) return line;
        }
        return std::nullopt;
    }

    [[noreturn]] void refuse(const std::string& what) const {
        throw UsageError(fmt::format("line {}: {}", number_, what));
    }

private:
    std::string_view rest_;
    char comment_;
    int number_ = 0;
};

std::vector<std::string_view> words_of_line(std::string_view line, std::string_view separators) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t first = line.find_first_not_of(" \t");
        line.remove_prefix(first == std::string_view::npos ? line.size() : first);
        const std::size_t end = line.find_first_of(separators);
        std::string_view word = line.substr(0, end);
        while (!word.empty() && (word.back() == ' ' || word.back() == '\t')) word.remove_suffix(1);
        words.push_back(word);
        if (end == std::string_view::npos) return words;
        line.remove_prefix(end + 1);
    }
}

double number_of(const Lines& lines, std::string_view word) {
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool is_whole_word = end == word.data() + word.size();
    if (error == std::errc::result_out_of_range && is_whole_word)
        lines.refuse(fmt::format("{} is too large or too small for a number of 64 bits", quote(word)));
    if (error != std::errc{} || !is_whole_word || !std::isfinite(number))
        lines.refuse(fmt::format("{} is not a number", quote(word)));
    if (number < 0) lines.refuse(fmt::format("{} is below 0: bytes are not negative", quote(word)));
    return number;
}

int index_of(const Lines& lines, std::string_view word, int least, int most) {
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || number < least || number > most)
        lines.refuse(fmt::format("{} is not a whole number from {} to {}", quote(word), least, most));
    return number;
}

std::vector<double> blank_matrix(int ranks, double value) {
    return std::vector<double>(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks), value);
}

std::size_t place_of(int ranks, int row, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(column);
}

struct MtxHeader {
    bool is_coordinate = true, is_pattern = false, is_symmetric = false, is_integer = false;
};

// Of a file of whole numbers another one is a mistake of who wrote it.
double number_of(const Lines& lines, std::string_view word, const MtxHeader& header) {
    const double number = number_of(lines, word);
    if (header.is_integer && number != std::floor(number))
        lines.refuse(
            fmt::format("{} is not a whole number, and line 1 says integer: real has others", quote(word)));
    return number;
}

MtxHeader header_of(std::string_view text) {
    std::string line(text.substr(0, text.find_first_of("\r\n")));
    std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
    std::vector<std::string_view> words = words_of_line(line, " \t");
    std::erase(words, "");
    const auto is_one_of = [&](std::size_t word, std::initializer_list<std::string_view> known) {
        return word < words.size() && std::find(known.begin(), known.end(), words[word]) != known.end();
    };
    if (!is_one_of(0, {"%%matrixmarket"}) || !is_one_of(1, {"matrix"}) || !is_one_of(2, {"coordinate", "array"}) ||
        !is_one_of(3, {"integer", "real", "pattern"}) || !is_one_of(4, {"general", "symmetric"}) ||
        (words[2] == "array" && words[3] == "pattern"))
        throw UsageError("line 1: expected '%%MatrixMarket matrix coordinate integer general' (or array; real or "
                         "pattern; symmetric)");
    return {words[2] == "coordinate", words[3] == "pattern", words[4] == "symmetric", words[3] == "integer"};
}

// Entry after entry, column by column; of a symmetric one the diagonal and what is below.
std::vector<double> read_array(Lines& lines, int ranks, const MtxHeader& header) {
    std::vector<double> numbers = blank_matrix(ranks, 0);
    for (int column = 0; column < ranks; ++column)
        for (int row = header.is_symmetric ? column : 0; row < ranks; ++row) {
            const auto line = lines.next();
            if (!line)
                throw UsageError(fmt::format("it ends before all numbers of {} x {} are there", ranks, ranks));
            const double number = number_of(lines, *line, header);
            numbers[place_of(ranks, row, column)] = number;
            if (header.is_symmetric) numbers[place_of(ranks, column, row)] = number;
        }
    if (lines.next()) lines.refuse(fmt::format("there are more numbers than those of {} x {}", ranks, ranks));
    return numbers;
}

std::vector<double> read_coordinates(Lines& lines, int ranks, int entries, const MtxHeader& header) {
    constexpr double kNotGiven = -1;
    std::vector<double> numbers = blank_matrix(ranks, kNotGiven);
    const std::size_t columns = header.is_pattern ? 2 : 3;
    for (int entry = 0; entry < entries; ++entry) {
        const auto line = lines.next();
        if (!line)
            throw UsageError(
                fmt::format("it ends after {} of its {} {}", entry, entries, entries == 1 ? "entry" : "entries"));
        std::vector<std::string_view> words = words_of_line(*line, " \t");
        std::erase(words, "");
        if (words.size() != columns) lines.refuse(fmt::format("expected {} words", columns));
        const int row = index_of(lines, words[0], 1, ranks) - 1;
        const int column = index_of(lines, words[1], 1, ranks) - 1;
        const double number = header.is_pattern ? 1 : number_of(lines, words[2], header);
        double& place = numbers[place_of(ranks, row, column)];
        if (place != kNotGiven) lines.refuse(fmt::format("the entry {} {} is given twice", row + 1, column + 1));
        place = number;
        if (header.is_symmetric) numbers[place_of(ranks, column, row)] = number;
    }
    if (lines.next())
        lines.refuse(fmt::format("there are more than its {} {}", entries, entries == 1 ? "entry" : "entries"));
    std::replace(numbers.begin(), numbers.end(), kNotGiven, 0.0);
    return numbers;
}

} // namespace

TrafficMatrix parse_mtx(std::string_view text) {
    const MtxHeader header = header_of(text);
    Lines lines(text, '%');
    const auto sizes = lines.next();
    if (!sizes) throw UsageError("it ends before its size");
    std::vector<std::string_view> words = words_of_line(*sizes, " \t");
    std::erase(words, "");
    const std::size_t expected = header.is_coordinate ? 3 : 2;
    if (words.size() != expected)
        lines.refuse(header.is_coordinate ? "expected rows, columns and entries" : "expected rows and columns");
    const int ranks = index_of(lines, words[0], 2, kMostTrafficRanks);
    const int columns = index_of(lines, words[1], 2, kMostTrafficRanks);
    if (ranks != columns)
        lines.refuse(fmt::format("{} x {} is not square: a row and a column for each rank", ranks, columns));
    if (!header.is_coordinate) return TrafficMatrix::of_numbers(ranks, read_array(lines, ranks, header));
    const int entries = index_of(lines, words[2], 0, ranks * ranks);
    return TrafficMatrix::of_numbers(ranks, read_coordinates(lines, ranks, entries, header));
}

TrafficMatrix parse_csv_matrix(std::string_view text) {
    Lines lines(text, '#');
    std::vector<double> numbers;
    std::size_t columns = 0;
    std::size_t rows = 0;
    while (const auto line = lines.next()) {
        const auto words = words_of_line(*line, ",");
        if (columns == 0) columns = words.size();
        if (columns > static_cast<std::size_t>(kMostTrafficRanks))
            lines.refuse(fmt::format("{} columns, expected at most {}", columns, kMostTrafficRanks));
        if (words.size() != columns)
            lines.refuse(fmt::format("{} columns, and {} in the lines above", words.size(), columns));
        if (++rows > columns) lines.refuse(fmt::format("more rows than the {} columns: it is not square", columns));
        for (const std::string_view word : words) numbers.push_back(number_of(lines, word));
    }
    if (rows != columns)
        throw UsageError(fmt::format("{} x {} is not square: a row and a column for each rank", rows, columns));
    if (rows < 2) throw UsageError("a matrix of at least 2 x 2 numbers is expected");
    return TrafficMatrix::of_numbers(static_cast<int>(rows), numbers);
}

} // namespace a2aperf
