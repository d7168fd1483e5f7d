// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/options.hpp"

#include "a2aperf/plan/size_list.hpp"

namespace a2aperf {

Options default_options(Command command) {
    Options options;
    options.command = command;
    options.sizes = parse_sizes(kDefaultSizes);
    options.schedules = {&find_schedule("shift")};
    if (command == Command::pairs) {
        options.sizes = parse_sizes(kDefaultPairSizes);
        options.ops = 10;
        options.warmup = 2;
        options.with_sentinel = false;
    }
    return options;
}

std::string_view to_string(Command command) {
    switch (command) {
    case Command::alltoall:
        return "alltoall";
    case Command::pairs:
        return "pairs";
    case Command::providers:
        return "providers";
    }
    return "";
}

} // namespace a2aperf
