// SPDX-License-Identifier: BSD-3-Clause
// Columns of what some workloads are asked for.
#include <cstdint>

#include "a2aperf/record/columns.hpp"

namespace a2aperf {

Column memory_column() {
    return asked_column("memory", ValueType::text, "", "pages of the message buffers",
                        [](const Point& point) { return Value(point.memory); });
}

Column window_bytes_column() {
    return asked_column("window_bytes", ValueType::int64, "B",
                        "what the window was asked for as, window is as many messages as fit it, 0 = in messages",
                        [](const Point& point) { return Value(static_cast<std::int64_t>(point.window_bytes)); });
}

std::vector<Column> chunk_columns() {
    std::vector columns{
        asked_column("chunk", ValueType::int64, "B", "what longer messages were cut into, 0 = messages are whole",
                     [](const Point& point) { return Value(static_cast<std::int64_t>(point.chunk)); }),
        asked_column("chunks", ValueType::int32, "", "that the largest message of an op was cut into, 1 = not cut",
                     [](const Point& point) { return Value(static_cast<std::int64_t>(point.chunks())); })};
    columns[0].before = std::int64_t{0};
    columns[1].before = std::int64_t{1};
    return columns;
}

Column endpoints_column() {
    Column column =
        asked_column("endpoints", ValueType::int32, "", "of each rank, over which its peers are dealt",
                     [](const Point& point) { return Value(static_cast<std::int64_t>(point.channels)); });
    column.before = std::int64_t{1};
    return column;
}

Column queues_column() {
    Column column = asked_column("queues", ValueType::text, "",
                                 "that the endpoints of a rank have: each its own, or one for all of them",
                                 [](const Point& point) { return Value(std::string(to_string(point.queues))); });
    column.before = std::string(to_string(Queues::each));
    return column;
}

Column threads_column() {
    Column column = asked_column("threads", ValueType::text, "",
                                 "that drive the endpoints of a rank in an op: its one, or each has its own",
                                 [](const Point& point) { return Value(std::string(to_string(point.threads))); });
    column.before = std::string(to_string(Threads::one));
    return column;
}

Column forwarded_column() {
    Column column = asked_column(
        "forwarded_bytes", ValueType::int64, "B",
        "of an op, that leaders of nodes take from the ranks of their node or give to them for others",
        [](const Point& point) {
            return Value(static_cast<std::int64_t>(point.forwarding ? point.forwarding->forwarded() : 0));
        });
    column.before = std::int64_t{0};
    return column;
}

Column polling_column() {
    Column column = asked_column(
        "polling", ValueType::text, "", "how ranks waited, of a launch in which points differ by that; else empty",
        [](const Point& point) { return Value(point.polling ? point.polling->text() : ""); });
    column.before = std::string();
    return column;
}

} // namespace a2aperf
