// SPDX-License-Identifier: BSD-3-Clause
// The whole command line (src/config). An input is the words after "a2aperf", each ended by a NUL, as in
// /proc/PID/cmdline.
#include <cstdint>

#include "options_text.hpp"
#include "property.hpp"
#include "support/arguments.hpp"

using namespace a2aperf;
using fuzz::is_accepted;
using fuzz::require;

namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

// What a shell makes of a line that holds nothing but plain words and single quotes.
std::vector<std::string> words_of_shell(std::string_view line) {
    std::vector<std::string> words{""};
    bool is_quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\'')
            is_quoted = !is_quoted;
        else if (line[i] == '\\' && !is_quoted)
            words.back() += line[++i];
        else if (line[i] == ' ' && !is_quoted)
            words.emplace_back();
        else
            words.back() += line[i];
    }
    return words;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::string> words = words_of({reinterpret_cast<const char*>(data), size});
    ParsedCommandLine parsed;
    if (!is_accepted([&] { parsed = test::parse(words); })) return 0;
    if (parsed.answer) {
        require(!parsed.answer->empty(), "an answer says something");
        return 0;
    }
    std::vector<std::string> typed = words;
    typed.insert(typed.begin(), "a2aperf");
    require(words_of_shell(parsed.options.command_line) == typed, "the command line can be typed again",
            parsed.options.command_line);
    if (parsed.options.workload == "alltoall") fuzz::require_sound(parsed.options);
    return 0;
}
