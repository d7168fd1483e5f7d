// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/path.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/utf8.hpp"
#include "a2aperf/plan/size_list.hpp"

namespace a2aperf {
namespace {

constexpr int kMostWindow = 1'000'000;

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::optional<int> whole_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

void set_ranks(AskedPath& path, std::string_view text) {
    const std::size_t colon = text.find(':');
    const auto from = whole_number(text.substr(0, colon));
    const auto to = colon == std::string_view::npos ? std::nullopt : whole_number(text.substr(colon + 1));
    if (!from || !to)
        throw UsageError(
            fmt::format("{} is not a path: it begins with its two ranks, as in 0:1,size=4096", quote(text)));
    if (*from == *to) throw UsageError(fmt::format("the path {}:{} leads from a rank to itself", *from, *to));
    path.from = *from;
    path.to = *to;
}

void set_class(AskedPath& path, std::string_view value) {
    path.traffic_class = TrafficClass::parse(value);
}

void set_size(AskedPath& path, std::string_view value) {
    const std::vector<Bytes> sizes = parse_sizes(value, 0);
    if (sizes.size() != 1) throw UsageError(fmt::format("{}: a path has one size", quote(value)));
    path.size = sizes.front();
}

void set_window(AskedPath& path, std::string_view value) {
    const auto window = whole_number(value);
    if (!window || *window < 1 || *window > kMostWindow)
        throw UsageError(fmt::format("window {}: expected a whole number from 1 to {}", quote(value), kMostWindow));
    path.window = window;
}

void set_mode(AskedPath& path, std::string_view value) {
    path.mode = value;
}

void set_start(AskedPath& path, std::string_view value) {
    path.start = parse_duration(value);
}

struct Key {
    std::string_view name;
    void (*set)(AskedPath& path, std::string_view value);
};
constexpr std::array kKeys{Key{"class", set_class}, Key{"size", set_size}, Key{"window", set_window},
                           Key{"mode", set_mode}, Key{"start", set_start}};

void set_key(AskedPath& path, std::string_view item, std::vector<std::string_view>& given) {
    const std::size_t sign = item.find('=');
    const std::string_view name = item.substr(0, sign);
    const auto key = std::ranges::find(kKeys, name, &Key::name);
    if (sign == std::string_view::npos || key == kKeys.end()) {
        std::vector<std::string_view> names;
        for (const Key& one : kKeys) names.push_back(one.name);
        throw UsageError(fmt::format("{} says nothing of a path: expected {}, as in class=bulk", quote(item),
                                     fmt::join(names, ", ")));
    }
    if (std::ranges::find(given, name) != given.end())
        throw UsageError(fmt::format("{} is there twice in one path", name));
    given.push_back(name);
    key->set(path, item.substr(sign + 1));
}

// Exactly, in the largest unit that does.
std::string as_asked(Nanoseconds time) {
    constexpr std::pair<Nanoseconds, const char*> kUnits[] = {
        {1'000'000'000, "s"}, {1'000'000, "ms"}, {1000, "us"}};
    for (const auto& [unit, name] : kUnits)
        if (time % unit == 0) return fmt::format("{}{}", time / unit, name);
    return fmt::format("{}ns", time);
}

} // namespace

AskedPath AskedPath::parse(std::string_view text) {
    AskedPath path;
    const std::vector<std::string_view> items = parts_of(text, ',');
    set_ranks(path, items.front());
    std::vector<std::string_view> given;
    for (std::size_t i = 1; i < items.size(); ++i) set_key(path, items[i], given);
    return path;
}

std::vector<AskedPath> parse_path_lines(std::string_view name, std::string_view text) {
    std::vector<AskedPath> paths;
    int number = 0;
    for (const std::string_view whole : parts_of(text, '\n')) {
        ++number;
        const std::string_view line = trimmed(whole.substr(0, whole.find('#')));
        if (line.empty()) continue;
        try {
            paths.push_back(AskedPath::parse(line));
        } catch (const UsageError& error) {
            throw UsageError(fmt::format("{}, line {}: {}", printable(name), number, error.what()));
        }
    }
    if (paths.empty())
        throw UsageError(fmt::format("{} has no path: write one a line, as in 0:1,size=4096", printable(name)));
    return paths;
}

std::string Path::text() const {
    std::string words = fmt::format("{}:{}", from, to);
    if (const std::string name = traffic_class.text(); !name.empty()) words += fmt::format(" class={}", name);
    words += fmt::format(" size={} window={} mode={}", size, window, mode);
    if (start > 0) words += fmt::format(" start={}", as_asked(start));
    return words;
}

std::vector<int> channels_of(const std::vector<AskedPath>& paths) {
    const auto is_own = [](const TrafficClass& one) {
        return one.kind == TrafficClass::Kind::none || one.kind == TrafficClass::Kind::service_level;
    };
    const auto exclude = [&](const AskedPath& a, const AskedPath& b) {
        const bool meet = a.from == b.from || a.from == b.to || a.to == b.from || a.to == b.to;
        const auto &of_a = a.traffic_class, &of_b = b.traffic_class;
        return meet || !(of_a == of_b || (is_own(of_a) && is_own(of_b)));
    };
    std::vector<int> channels;
    for (const AskedPath& path : paths) {
        const auto is_taken = [&](int channel) {
            for (std::size_t before = 0; before < channels.size(); ++before)
                if (channels[before] == channel && exclude(paths[before], path)) return true;
            return false;
        };
        int channel = 0;
        while (is_taken(channel)) ++channel;
        channels.push_back(channel);
    }
    return channels;
}

std::string text_of(const std::vector<Path>& paths) {
    std::vector<std::string> texts;
    for (const Path& path : paths) texts.push_back(path.text());
    return fmt::format("{}", fmt::join(texts, "; "));
}

} // namespace a2aperf
