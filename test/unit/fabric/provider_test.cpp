// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/provider.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

TEST_CASE("a short name is served by layered ones, a layered name only by itself") {
    CHECK(provider_matches("tcp;ofi_rxm", "tcp"));
    CHECK(provider_matches("tcp", "tcp"));
    CHECK(provider_matches("tcp;ofi_rxm", "tcp;ofi_rxm"));
    CHECK_FALSE(provider_matches("tcp", "tcp;ofi_rxm"));
    CHECK_FALSE(provider_matches("udp;ofi_rxd", "tcp"));
    CHECK_FALSE(provider_matches("psm2", "psm"));
}

TEST_CASE("names are unique and each is found, also layered") {
    std::set<std::string_view> names;
    for (const Provider& provider : known_providers()) {
        CHECK(names.insert(provider.name).second);
        CHECK(&find_provider(provider.name) == &provider);
        CHECK_FALSE(provider.about.empty());
        CHECK_FALSE(provider.network.empty());
    }
    CHECK(find_provider("verbs;ofi_rxm").name == "verbs");
}

TEST_CASE("an unknown name is refused with the ones there are") {
    try {
        (void)find_provider("tpc");
        FAIL("it did not throw");
    } catch (const UsageError& error) {
        const std::string text = error.what();
        for (const char* word : {"tpc", "auto", "shm", "psm2", "tcp"}) CHECK(text.find(word) != std::string::npos);
    }
}

TEST_CASE("fabrics with devices come before those that every machine has") {
    const auto providers = known_providers();
    const auto is_embedded = [](const Provider& provider) { return provider.needs == Needs::nothing; };
    const auto first = std::find_if(providers.begin(), providers.end(), is_embedded);
    CHECK(std::all_of(first, providers.end(), is_embedded));
}

TEST_CASE("what the user has set stays, what is missing is set and told") {
    setenv("FI_UNIVERSE_SIZE", "77", 1);
    unsetenv("FI_PSM2_UUID");
    const Provider* psm2 = &find_provider("psm2");
    const auto added =
        prepare_environment(std::span(&psm2, 1), {.ranks = 5, .job_key = 42, .mpi_uses_libfabric = true});
    CHECK(std::string(std::getenv("FI_UNIVERSE_SIZE")) == "77");
    const std::string uuid = std::getenv("FI_PSM2_UUID");
    CHECK(uuid.size() == 36);
    CHECK(std::find(added.begin(), added.end(), "FI_PSM2_UUID=" + uuid) != added.end());
    CHECK(std::none_of(added.begin(), added.end(),
                       [](const std::string& entry) { return entry.starts_with("FI_UNIVERSE_SIZE"); }));

    unsetenv("FI_PSM2_UUID");
    prepare_environment(std::span(&psm2, 1), {.ranks = 5, .job_key = 43, .mpi_uses_libfabric = true});
    CHECK(uuid != std::getenv("FI_PSM2_UUID")); // another job
    unsetenv("FI_UNIVERSE_SIZE");
}

TEST_CASE("psm3 has variables of its own for the same") {
    unsetenv("FI_PSM3_UUID");
    const Provider* psm3 = &find_provider("psm3");
    prepare_environment(std::span(&psm3, 1), {.ranks = 2, .job_key = 42, .mpi_uses_libfabric = true});
    REQUIRE(std::getenv("FI_PSM3_UUID") != nullptr);
    CHECK(std::string(std::getenv("FI_PSM3_UUID")).size() == 36);
    CHECK(std::string(std::getenv("FI_PSM3_NAME_SERVER")) == "0");
    for (const char* name : {"FI_PSM3_UUID", "FI_PSM3_NAME_SERVER", "FI_UNIVERSE_SIZE"}) unsetenv(name);
}

TEST_CASE("shm's trouble with unexpected messages is that of old versions without CMA") {
    const auto trouble = find_provider("shm").unexpected_trouble;
    REQUIRE(static_cast<bool>(trouble));
    unsetenv("FI_SHM_DISABLE_CMA");
    CHECK_FALSE(trouble(60000, 4096));
    setenv("FI_SHM_DISABLE_CMA", "1", 1);
    CHECK_FALSE(trouble(4096, 4096)); // goes by inject
    CHECK(trouble(4097, 4096).has_value() == FI_VERSION_LT(fi_version(), FI_VERSION(1, 19)));
    unsetenv("FI_SHM_DISABLE_CMA");
}
