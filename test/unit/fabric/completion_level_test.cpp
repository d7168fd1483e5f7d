// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/completion_level.hpp"

#include <rdma/fi_endpoint.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include <doctest/doctest.h>

#include "a2aperf/fabric/provider.hpp"

using namespace a2aperf;

namespace {

Offer offer_of(const char* provider) {
    auto all = offers(provider, FI_TAGGED | FI_SEND | FI_RECV);
    REQUIRE(!all.empty());
    return all.front();
}

// The same under another provider's name.
Offer named(const char* name) {
    Offer offer = offer_of("tcp");
    std::free(offer.info().fabric_attr->prov_name);
    offer.info().fabric_attr->prov_name = strdup(name);
    return offer;
}

} // namespace

TEST_CASE("a level is a flag of an operation, and the provider's own is none") {
    CHECK(flag_of(CompletionLevel::as_provider) == 0);
    CHECK(flag_of(CompletionLevel::transmit) == FI_TRANSMIT_COMPLETE);
    CHECK(flag_of(CompletionLevel::delivery) == FI_DELIVERY_COMPLETE);
}

TEST_CASE("what takes no notice of a level does not tell it, and says of what") {
    for (const char* name : {"tcp;ofi_rxm", "psm2", "udp;ofi_rxd"}) {
        CHECK_FALSE(level_trouble(named(name), CompletionLevel::as_provider, false, 8));
        CHECK(level_trouble(named(name), CompletionLevel::transmit, false, 8));
        const auto why = level_trouble(named(name), CompletionLevel::delivery, false, 8);
        REQUIRE(why);
        CHECK(*why == std::string(name) + " takes no notice of FI_DELIVERY_COMPLETE where messages are sent");
    }
    CHECK(level_trouble(named("psm2"), CompletionLevel::transmit, true, 8));
    CHECK(level_trouble(named("verbs;ofi_rxm"), CompletionLevel::delivery, true, 8));
}

TEST_CASE("shm tells of every delivery but that of nothing") {
    const Offer shm = offer_of("shm");
    CHECK_FALSE(level_trouble(shm, CompletionLevel::transmit, false, 0));
    CHECK_FALSE(level_trouble(shm, CompletionLevel::delivery, false, 1));
    CHECK(level_trouble(shm, CompletionLevel::delivery, false, 0));
    CHECK(level_trouble(shm, CompletionLevel::delivery, true, 0));
}

TEST_CASE("a level that the provider refuses is not offered") {
    // No provider is of that name: libfabric offers nothing.
    const auto why = level_trouble(named("none"), CompletionLevel::delivery, false, 8);
    REQUIRE(why);
    CHECK(*why == "none does not offer completions at delivery");
}

TEST_CASE("net gives completions that no send has asked for") {
    CHECK(selection_trouble(named("net")));
    CHECK_FALSE(selection_trouble(named("tcp;ofi_rxm")));
    CHECK_FALSE(selection_trouble(named("shm")));
}
