// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/record_writer.hpp"

#include <cmath>
#include <regex>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/utf8.hpp"

namespace a2aperf {
namespace {

// Words that begin so are formulas to a spreadsheet; a number is one, whatever its sign.
bool is_formula(const std::string& text) {
    static const std::regex number("[-+][0-9.]+(e[-+]?[0-9]+)?");
    return !text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos &&
           !std::regex_match(text, number);
}

std::string csv_text(const std::string& plain) {
    std::string text = is_formula(plain) ? "'" + plain : plain;
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string json_text(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : valid_utf8(text)) {
        if (c == '"' || c == '\\')
            quoted += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < ' ')
            quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
        else
            quoted += c;
    }
    return quoted + '"';
}

std::string shown(const std::optional<Value>& field, bool is_json) {
    if (!field) return is_json ? "null" : "";
    if (const auto* text = std::get_if<std::string>(&*field)) return is_json ? json_text(*text) : csv_text(*text);
    if (const auto* integer = std::get_if<std::int64_t>(&*field)) return fmt::to_string(*integer);
    return fmt::format("{}", std::get<double>(*field));
}

} // namespace

std::string RecordWriter::header() const {
    return is_json_ ? "[" : fmt::format("{}\n", fmt::join(names_, ","));
}

std::string RecordWriter::row(std::span<const std::optional<Value>> fields) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string value = shown(fields[i], is_json_);
        words.push_back(is_json_ ? fmt::format("\"{}\": {}", names_[i], value) : value);
    }
    if (!is_json_) return fmt::format("{}\n", fmt::join(words, ","));
    return fmt::format("{}\n  {{{}}}", std::exchange(is_first_, false) ? "" : ",", fmt::join(words, ", "));
}

std::optional<Value> known(double figure) {
    return std::isfinite(figure) ? std::optional<Value>(figure) : std::nullopt;
}

} // namespace a2aperf
