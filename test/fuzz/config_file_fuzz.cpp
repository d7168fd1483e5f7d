// SPDX-License-Identifier: BSD-3-Clause
// --config FILE (src/config/config_file.cpp): what is accepted means the same on the command line.
#include <cstdint>
#include <fstream>

#include <fmt/format.h>

#include "config/config_file.hpp"
#include "options_text.hpp"
#include "property.hpp"
#include "support/arguments.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;
using fuzz::is_accepted;
using fuzz::require;

namespace {

// The keys of a file as one would type them.
std::vector<std::string> words_of(const GivenOptions& given) {
    std::vector<std::string> words;
    for (const auto& [row, values] : given) {
        if (values.empty()) words.push_back(fmt::format("--{}", row->name));
        for (const std::string& value : values) words.push_back(fmt::format("--{}={}", row->name, value));
    }
    return words;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const test::TemporaryFolder folder;
    static const std::string file = (folder / "config.toml").string();
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<long>(size));

    GivenOptions given;
    if (!is_accepted([&] { given = read_config_file(file, alltoall().row(), test::catalogue()); })) return 0;
    Options from_file;
    if (!is_accepted([&] { from_file = test::parse_alltoall({"--config", file}); })) return 0;
    fuzz::require_sound(from_file);

    // Of typed words more is asked: an option has its partner, and no value looks like an option.
    Options typed;
    if (!is_accepted([&] { typed = test::parse_alltoall(words_of(given)); })) return 0;
    require(fuzz::text_of(typed) == fuzz::text_of(from_file), "a key means what the option means",
            fuzz::text_of(typed) + "\nand in the file " + fuzz::text_of(from_file));
    return 0;
}
