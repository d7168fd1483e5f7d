// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

constexpr std::array kMustAgree{"PSM2_", "PSM3_", "HFI_", "FI_", "UCX_", "IBV_", "MLX5_"};
constexpr std::array kMayDiffer{"OMPI_", "OPAL_", "PMIX_MCA_", "PRTE_MCA_", "SLURM_", "MPICH_", "A2APERF_"};
constexpr std::array kSecret{"TOKEN",   "SECRET",     "PASSW", "CREDENTIAL", "JWT",   "APIKEY",
                             "API_KEY", "ACCESS_KEY", "AUTH",  "_URI",       "COOKIE"};

using Variables = std::map<std::string, std::string>;

// Fields are kept apart by a byte that no environment holds.
constexpr char kEnd = '\x1f';

std::string packed_environment(const std::set<std::string>& wanted) {
    std::string packed;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::string name = text.substr(0, text.find('='));
        if (family_of(name) != Family::none || wanted.contains(name)) packed += text + kEnd;
    }
    return packed;
}

Variables unpack(const std::string& packed) {
    Variables variables;
    for (std::size_t at = 0; at < packed.size();) {
        const auto end = packed.find(kEnd, at);
        const auto equals = packed.find('=', at);
        variables[packed.substr(at, equals - at)] = packed.substr(equals + 1, end - equals - 1);
        at = end + 1;
    }
    return variables;
}

std::optional<std::string> value_of(const Variables& variables, const std::string& name) {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
}

std::string words(const std::optional<std::string>& value) {
    return value ? fmt::format("'{}'", *value) : "not set";
}

bool is_secret(std::string_view name) {
    std::string upper(name);
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
    return std::any_of(kSecret.begin(), kSecret.end(),
                       [&](std::string_view secret) { return upper.find(secret) != std::string::npos; });
}

// What a launch that resumes another must have in common with it: what the user has set. What a launch sets itself
// follows from its arguments, or is its own, as a UUID.
bool binds(const std::string& name, const std::string& value, const std::vector<std::string>& own) {
    return family_of(name) == Family::must_agree &&
           std::find(own.begin(), own.end(), fmt::format("{}={}", name, value)) == own.end();
}

struct Comparison {
    std::vector<EnvironmentVariable> variables;
    std::string trouble; // empty = all is well
};

Comparison compare(const Job& job, const std::vector<std::string>& packed,
                   const std::vector<std::pair<std::string, std::string>>& required,
                   const std::vector<std::string>& own) {
    std::vector<Variables> all;
    std::set<std::string> names;
    for (const auto& text : packed) {
        all.push_back(unpack(text));
        for (const auto& [name, value] : all.back()) names.insert(name);
    }
    std::set<std::string> asked_for;
    for (const auto& [name, value] : required) asked_for.insert(name);
    Comparison result;
    for (const auto& name : names) {
        const auto first = value_of(all.front(), name);
        const auto other = std::find_if(all.begin(), all.end(),
                                        [&](const Variables& those) { return value_of(those, name) != first; });
        if (other != all.end() && family_of(name) == Family::must_agree) {
            const auto rank = static_cast<Rank>(other - all.begin());
            result.trouble =
                fmt::format("{} is {} on {} and {} on {}: set it on all ranks (mpirun -x {}; srun "
                            "--export=ALL)",
                            name, words(first), job.who(0), words(value_of(*other, name)), job.who(rank), name);
            return result;
        }
        const bool is_asked_for = asked_for.contains(name) && !is_secret(name);
        if (first && (is_asked_for || family_of(name) != Family::none))
            result.variables.push_back(
                {name, *first, other == all.end(), is_asked_for || binds(name, *first, own)});
    }
    for (const auto& [name, value] : required)
        for (Rank rank = 0; rank < job.ranks(); ++rank)
            if (const auto found = value_of(all[static_cast<std::size_t>(rank)], name); found != value) {
                result.trouble = fmt::format("{}={} is required, but it is {} on {}: does the launcher forward it?",
                                             name, value, words(found), job.who(rank));
                return result;
            }
    return result;
}

} // namespace

Family family_of(std::string_view name) {
    if (is_secret(name)) return Family::none;
    for (const std::string_view prefix : kMustAgree)
        if (name.starts_with(prefix)) return Family::must_agree;
    for (const std::string_view prefix : kMayDiffer)
        if (name.starts_with(prefix)) return Family::may_differ;
    return Family::none;
}

std::vector<EnvironmentVariable>
agree_on_environment(const Job& job, const std::vector<std::pair<std::string, std::string>>& required,
                     const std::vector<std::string>& own) {
    std::set<std::string> wanted;
    for (const auto& [name, value] : required) wanted.insert(name);
    const auto packed = job.gather_text(packed_environment(wanted));
    Comparison result;
    if (job.is_root()) result = compare(job, packed, required, own);
    job.broadcast_text(result.trouble);
    if (!result.trouble.empty()) throw UsageError(result.trouble);
    return result.variables;
}

} // namespace a2aperf
