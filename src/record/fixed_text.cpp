// SPDX-License-Identifier: BSD-3-Clause
#include "fixed_text.hpp"

#include <cstring>

#include "a2aperf/base/utf8.hpp"

namespace a2aperf {

std::vector<char> fixed(const std::vector<std::string>& texts) {
    std::string bytes;
    for (const std::string& text : texts) {
        bytes += cut_utf8(text, kFixedTextBytes);
        bytes.resize((bytes.size() + kFixedTextBytes - 1) / kFixedTextBytes * kFixedTextBytes, '\0');
        if (text.empty()) bytes.append(kFixedTextBytes, '\0');
    }
    return {bytes.begin(), bytes.end()};
}

std::vector<std::string> texts_of(const std::vector<char>& fixed) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < fixed.size(); i += kFixedTextBytes)
        texts.emplace_back(fixed.data() + i, strnlen(fixed.data() + i, kFixedTextBytes));
    return texts;
}

} // namespace a2aperf
