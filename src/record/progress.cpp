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

namespace a2aperf {
namespace {

constexpr Nanoseconds kTerminalPeriod = 200'000'000;
constexpr Nanoseconds kLogPeriod = 10'000'000'000;
constexpr int kUsualWidth = 80;

// What a point costs beside its messages' size, in bytes: small messages take as long as some kilobytes.
constexpr double kFixedCost = 4096;

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

Progress::Progress(Style style, int points_total)
    : style_(style), points_total_(points_total), last_print_(now_ns()) {}

Progress::~Progress() {
    clear();
}

void Progress::begin_point(int done, std::string_view label) {
    points_done_ = done;
    label_ = label;
    if (style_ == Style::terminal) print(fmt::format("[{}/{}] {}", points_done_ + 1, points_total_, label_));
}

void Progress::ops(int done, int expected, double gbps_rank) {
    const Nanoseconds period = style_ == Style::terminal ? kTerminalPeriod : kLogPeriod;
    if (style_ == Style::none || now_ns() - last_print_ < period) return;
    std::string line = fmt::format("[{}/{}] {}  op {}/{}  {:.2f} Gbit/s/rank", points_done_ + 1, points_total_,
                                   label_, done, expected, gbps_rank);
    if (time_left_ >= 0) line += fmt::format("  {} left", format_duration(time_left_));
    print(line);
}

void Progress::end_point(Bytes message_size, Nanoseconds duration, Bytes bytes_left) {
    ++points_done_;
    weight_done_ += static_cast<double>(message_size) + kFixedCost;
    time_done_ += duration;
    const int points_left = std::max(points_total_ - points_done_, 0);
    const double weight_left = static_cast<double>(bytes_left) + kFixedCost * points_left;
    time_left_ = static_cast<Nanoseconds>(static_cast<double>(time_done_) * weight_left / weight_done_);
}

void Progress::note(std::string_view line) {
    if (style_ == Style::none) return;
    clear();
    put(fmt::format("{}\n", line));
}

void Progress::clear() {
    if (!is_line_open_) return;
    put("\r\x1b[K");
    is_line_open_ = false;
}

void Progress::print(std::string_view line) {
    last_print_ = now_ns();
    if (style_ == Style::log) {
        put(fmt::format("{}\n", line));
        return;
    }
    put(fmt::format("\r\x1b[K{}", fit(line, terminal_width() - 1)));
    is_line_open_ = true;
}

} // namespace a2aperf
