// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/point.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "a2aperf/plan/window.hpp"

namespace a2aperf {

std::string_view to_string(Role role) {
    switch (role) {
    case Role::measure:
        return "measure";
    case Role::baseline:
        return "baseline";
    case Role::sentinel:
        return "sentinel";
    case Role::search:
        return "search";
    }
    return "";
}

std::string_view to_string(Post post) {
    return post == Post::before ? "before" : "inside";
}

std::string_view to_string(Queues queues) {
    return queues == Queues::one ? "one" : "each";
}

int Point::threads_of_rank() const {
    if (flow) return flow->threads(*this);
    return threads == Threads::each ? channels : 1;
}

std::string_view to_string(Threads threads) {
    return threads == Threads::one ? "one" : "each";
}

std::string_view Point::role_name() const {
    return own_role.empty() ? to_string(role) : own_role;
}

std::string_view Point::schedule_name() const {
    if (is_duration()) return "";
    return schedule != nullptr ? schedule->name : "library";
}

Bytes Point::largest_of_op() const {
    if (forwarding) return forwarding->largest();
    return traffic ? traffic->loads().largest : message_size;
}

// What goes by way of leaders is whole, also of a point whose schedule refuses the layout.
Bytes Point::chunks() const {
    const bool is_whole = chunk == 0 || forwarding || (schedule != nullptr && schedule->forwards);
    return is_whole ? 1 : std::max<Bytes>((largest_of_op() + chunk - 1) / chunk, 1);
}

Bytes Point::place_bytes() const {
    return is_cut() ? chunks() * chunk : message_size;
}

// Of traffic that is not uniform each message of a rank may have a chunk that is not full.
Bytes Point::buffer_bytes(int ranks) const {
    if (forwarding) return forwarding->buffer_bytes();
    if (traffic)
        return traffic->loads().most_of_rank +
               (is_cut() ? static_cast<Bytes>(ranks) * message_room(chunk) : Bytes{0});
    const Bytes all = std::max(largest_message(), place_bytes()) *
                      static_cast<Bytes>(messages_per_rank(ranks)); // of a duration's verification, too
    return is_duration() ? std::max(all, flow->bytes(*this)) : all;
}

Bytes Point::other_size() const {
    return is_duration() ? flow->other_size(*this) : message_size;
}

Bytes Point::largest_message() const {
    return std::max(largest_of_op(), other_size());
}

Point Point::of_size(Bytes size) const {
    Point same = *this;
    same.message_size = size;
    return same;
}

Point Point::of_op(int op, const Layout& layout) const {
    Point same = *this;
    if (draws() == 1) return same;
    same.traffic = std::make_shared<Traffic>(traffic->of_op(op, layout));
    if (steps) same.steps = std::make_shared<MessageSteps>(schedule->of_matrix(same.traffic->matrix()));
    return same;
}

std::vector<Point> Point::by_modes() const {
    if (!flow) return {*this};
    std::vector<Point> all;
    for (const auto& [of_mode, size] : flow->modes(*this)) {
        all.push_back(of_size(size));
        all.back().mode = of_mode;
    }
    return all;
}

Peers Point::peers(Rank rank, const Layout& layout, std::uint64_t seed) const {
    if (steps) return steps->peers(rank);
    Peers peers;
    if (distance == 0) {
        for (const Step& step : schedule->steps(rank, layout, seed)) {
            if (bytes(rank, step.send_to) > 0 || !traffic) peers.sends.push_back(step.send_to);
            if (bytes(step.receive_from, rank) > 0 || !traffic) peers.receives.push_back(step.receive_from);
        }
        return peers;
    }
    const int ranks = layout.ranks();
    const Rank target = (rank + distance) % ranks;
    const Rank source = (rank + ranks - distance) % ranks;
    const auto is_active = [&](Rank sender) { return only_sender < 0 || sender == only_sender; };
    if (is_active(rank)) peers.sends.push_back(target);
    if (is_active(source)) peers.receives.push_back(source);
    return peers;
}

std::string Point::memory_words() const {
    return memory.empty() || memory == "default" ? "" : fmt::format(" memory {}", memory);
}

std::string Point::chunk_words() const {
    if (chunk == 0) return "";
    const std::string asked = Window{0, chunk}.text();
    return is_cut() ? fmt::format(" chunk {} ({})", asked, chunks()) : fmt::format(" chunk {} (not cut)", asked);
}

std::string Point::endpoint_words() const {
    if (channels == 1) return "";
    return fmt::format(" endpoints {}{}{}", channels, queues == Queues::one ? " (one queue)" : "",
                       threads == Threads::each ? " threads each" : "");
}

std::string Point::polling_words() const {
    return polling ? fmt::format(" poll {}", polling->text()) : "";
}

std::string Point::asked_window() const {
    return Window{window, window_bytes}.text();
}

std::string Point::window_words() const {
    return window_bytes == 0 ? asked_window() : fmt::format("{} ({})", asked_window(), window);
}

std::string Point::label() const {
    if (is_duration()) return flow->label(*this);
    const std::string asked = traffic ? fmt::format(" {}", traffic->name()) : "";
    const std::string cell = fmt::format("{} {}{}", mode, schedule_name(), asked);
    if (is_baseline()) return fmt::format("{} {} B", cell, message_size);
    if (distance > 0) return fmt::format("{} by {} {} B", cell, distance, message_size);
    return fmt::format("{} window {}{}{}{} {} B{}", cell, window_words(), chunk_words(), endpoint_words(),
                       polling_words(), message_size, role == Role::sentinel ? " (sentinel)" : "");
}

bool moves_alike(const Point& a, const Point& b) {
    return a.schedule == b.schedule && a.window == b.window && a.window_bytes == b.window_bytes &&
           a.chunk == b.chunk && a.channels == b.channels && a.queues == b.queues && a.threads == b.threads &&
           a.polling == b.polling && a.message_size == b.message_size;
}

} // namespace a2aperf
