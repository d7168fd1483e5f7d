// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/terminal.hpp"
#include "a2aperf/base/units.hpp"

namespace a2aperf {
namespace {

constexpr Nanoseconds kPeriod = 200'000'000;
constexpr int kUsualWidth = 80;

int terminal_width() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

void put(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

// At most `width` characters, not bytes.
std::string_view fit(std::string_view text, int width) {
    int characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U && characters++ == width)
            return text.substr(0, i);
    return text;
}

} // namespace

Progress::Style Progress::detect(bool is_quiet) {
    if (is_quiet) return Style::none;
    const char* terminal = std::getenv("TERM");
    const bool is_dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
    return isatty(STDERR_FILENO) != 0 && !is_dumb ? Style::terminal : Style::log;
}

Progress::Progress(Style style, TimeLeft time_left, bool is_bound)
    : style_(style), time_left_(std::move(time_left)), is_bound_(is_bound), last_print_(now_ns()) {}

Progress::~Progress() {
    clear();
}

void Progress::begin_point(std::size_t place, std::string_view label) {
    point_ = time_left_.points_until(place + 1);
    label_ = label;
    time_left_.begin(place, now_ns());
    if (style_ != Style::terminal) return;
    const std::string time = end_ ? time_words(now_ns()) + "  " : "";
    print(fmt::format("[{}/{}] {}{}", point_, time_left_.points(), time, label_));
}

std::string Progress::time_words(Nanoseconds now) const {
    if (end_) return *end_ > now ? fmt::format("{} left", format_estimate(*end_ - now)) : "past its time";
    const auto left = time_left_.at(now);
    return left ? fmt::format("{}{} left", is_bound_ ? "at most " : "", format_estimate(*left)) : std::string();
}

void Progress::ops(int done, int expected, double gbps_rank) {
    if (style_ != Style::terminal) return;
    const Nanoseconds now = now_ns();
    time_left_.ops(done, expected, now);
    if (now - last_print_ < kPeriod) return;
    // What changes comes first: a narrow terminal cuts the rest.
    const std::string time = time_words(now);
    print(fmt::format("[{}/{}] op {}/{}{}{}  {}  {} Gbit/s/rank", point_, time_left_.points(), done, expected,
                      time.empty() ? "" : ", ", time, label_, format_gbps(gbps_rank)));
}

void Progress::end_point() {
    time_left_.end(now_ns());
}

void Progress::note(std::string_view line) {
    if (style_ == Style::none) return;
    clear();
    tell(line);
}

void Progress::clear() {
    if (!is_line_open_) return;
    put("\r\x1b[K");
    is_line_open_ = false;
}

void Progress::print(std::string_view line) {
    last_print_ = now_ns();
    put(fmt::format("\r\x1b[K{}", fit(visible(line), terminal_width() - 1)));
    is_line_open_ = true;
}

} // namespace a2aperf
