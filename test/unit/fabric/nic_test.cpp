// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/nic.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

namespace {

// An entry as fi_getinfo would give it.
InfoPtr info_of(const char* domain, const char* address) {
    InfoPtr info(fi_allocinfo());
    info->domain_attr->name = strdup(domain);
    info->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
    if (std::strchr(address, ':') != nullptr) {
        auto* source = static_cast<sockaddr_in6*>(std::calloc(1, sizeof(sockaddr_in6)));
        source->sin6_family = AF_INET6;
        inet_pton(AF_INET6, address, &source->sin6_addr);
        info->src_addr = source;
        info->src_addrlen = sizeof *source;
    } else {
        auto* source = static_cast<sockaddr_in*>(std::calloc(1, sizeof(sockaddr_in)));
        source->sin_family = AF_INET;
        inet_pton(AF_INET, address, &source->sin_addr);
        info->src_addr = source;
        info->src_addrlen = sizeof *source;
    }
    return info;
}

Offer offer(const char* domain, const char* address) {
    return Offer(info_of(domain, address));
}

std::vector<Offer> usual_offers() {
    std::vector<Offer> offers;
    offers.push_back(offer("unit0", "fe80::1"));
    offers.push_back(offer("unit0", "10.1.2.3"));
    offers.push_back(offer("lo", "127.0.0.1"));
    offers.push_back(offer("unit1", "10.1.2.4"));
    return offers;
}

std::string domain_of(const std::vector<Offer>& offers, const NicWish& wish) {
    return offers[choose_nic(offers, wish).index].domain();
}

} // namespace

TEST_CASE("loopback serves one host and no more") {
    const auto offers = usual_offers();
    CHECK(domain_of(offers, {.text = "nearest", .spans_hosts = false}) == "lo");
    CHECK(domain_of(offers, {.text = "nearest", .spans_hosts = true}) == "unit0");
    CHECK(choose_nic(offers, {.text = "nearest", .spans_hosts = true}).index == 1); // not the link-local one
}

namespace {

std::string domains_of(const std::vector<Offer>& offers, const NicWish& wish) {
    std::string names;
    for (const NicChoice& nic : choose_nics(offers, wish))
        names += offers[nic.index].domain() + fmt::format(" {} ", nic.index);
    return names;
}

} // namespace

TEST_CASE("all adapters are those with an address of the best kind, by name and once each") {
    auto offers = usual_offers();
    offers.push_back(offer("unit2", "fe80::2")); // has no other
    offers.push_back(offer("unit0", "10.1.2.5"));
    offers.push_back(offer("a", "10.1.2.6"));
    CHECK(domains_of(offers, {.text = "all", .spans_hosts = true}) == "a 6 unit0 1 unit1 3 ");
    CHECK(domains_of(offers, {.text = "all", .spans_hosts = false}) == "lo 2 ");
}

TEST_CASE("a list of adapters has its own order, and each has to be there") {
    const auto offers = usual_offers();
    CHECK(domains_of(offers, {.text = "unit1,unit0", .spans_hosts = true}) == "unit1 3 unit0 1 ");
    CHECK(domains_of(offers, {.text = "1:unit0,0:unit1", .spans_hosts = true}) == "unit1 3 ");
    CHECK(domains_of(offers, {.text = "nearest", .spans_hosts = true}) == "unit0 1 ");
    CHECK_THROWS_WITH_AS(choose_nics(offers, {.text = "unit1,unit7", .spans_hosts = true}),
                         "unknown adapter 'unit7': expected one of lo, unit0, unit1", UsageError);
    CHECK_THROWS_WITH_AS(choose_nics(offers, {.text = "unit1,unit0,unit1", .spans_hosts = true}),
                         "'unit1' names an adapter that stands in the list by another name, too", UsageError);
}

TEST_CASE("a link rate that the kernel does not know is not taken from the provider either") {
    const Offer loopback = offer("lo", "127.0.0.1");
    const Offer device = offer("unit0", "10.1.2.3");
    for (fi_info* info : {&loopback.info(), &device.info()}) {
        info->nic = static_cast<fid_nic*>(std::calloc(1, sizeof(fid_nic)));
        info->nic->link_attr = static_cast<fi_link_attr*>(std::calloc(1, sizeof(fi_link_attr)));
        info->nic->link_attr->speed = 100'000'000;
    }
    CHECK(nic_of(loopback).link_rate_gbps < 0);
    CHECK(nic_of(device).link_rate_gbps == doctest::Approx(0.1)); // no network interface: its own word counts
    for (fi_info* info : {&loopback.info(), &device.info()}) {
        std::free(info->nic->link_attr);
        std::free(info->nic);
        info->nic = nullptr;
    }
}

TEST_CASE("an adapter that the system has no folder for is called as its provider calls it") {
    const Offer first = offer("fabric", "10.1.2.3");
    CHECK(nic_of(first).name.empty());
    first.info().nic = static_cast<fid_nic*>(std::calloc(1, sizeof(fid_nic)));
    first.info().nic->device_attr = static_cast<fi_device_attr*>(std::calloc(1, sizeof(fi_device_attr)));
    CHECK(nic_of(first).name.empty());
    first.info().nic->device_attr->name = strdup("cxi0");
    CHECK(nic_of(first).name.empty()); // of a network interface the system is to know
    std::free(std::exchange(first.info().src_addr, nullptr));
    first.info().src_addrlen = 0;
    CHECK(nic_of(first).name == "cxi0");
    std::free(first.info().nic->device_attr->name);
    std::free(first.info().nic->device_attr);
    std::free(first.info().nic);
    first.info().nic = nullptr;
}

TEST_CASE("a rank is far from an adapter of another NUMA node, or bound to none") {
    const Locality one{.numa_nodes = {0}, .machine_numa_nodes = 2};
    CHECK(why_far(0, "mlx5_0", one).empty());
    CHECK(why_far(-1, "mlx5_0", one).empty());
    CHECK(why_far(1, "mlx5_0", {.numa_nodes = {0, 1}, .machine_numa_nodes = 2}) ==
          "not bound to one NUMA node, while mlx5_0 is at node 1");
    CHECK(why_far(1, "mlx5_0", {.numa_nodes = {0, 1}, .machine_numa_nodes = 1}).empty());
    const auto distance = [](const std::vector<int>& from, int to) { return from.front() == to ? 10 : 21; };
    const auto unknown = [](const std::vector<int>&, int) { return std::optional<int>(); };
    CHECK(why_far(1, "mlx5_0", one, distance) == "far from mlx5_0: distance 21 (10 is local)");
    CHECK(why_far(0, "mlx5_0", one, distance).empty());
    CHECK(why_far(1, "mlx5_0", one, unknown).empty());
}

TEST_CASE("of several adapters a rank names each that it is far from, once") {
    Locality one;
    one.numa_nodes = {0};
    one.machine_numa_nodes = 2;
    const auto distance = [](const std::vector<int>& from, int to) { return from.front() == to ? 10 : 21; };
    const std::vector<std::pair<int, std::string>> four{{1, "a"}, {0, "b"}, {1, "c"}, {1, "a"}};
    CHECK(why_far(four, one, distance) ==
          "far from a: distance 21 (10 is local); far from c: distance 21 (10 is local)");
    CHECK(why_far(std::span(four).subspan(1, 1), one, distance).empty());
}

TEST_CASE("an adapter is taken by name or by the local rank's place in a map") {
    const auto offers = usual_offers();
    CHECK(domain_of(offers, {.text = "unit1", .spans_hosts = true}) == "unit1");
    for (const int rank : {0, 1})
        CHECK(domain_of(offers, {.text = "0:unit0,1:unit1", .local_rank = rank, .spans_hosts = true}) ==
              (rank == 0 ? "unit0" : "unit1"));
}

TEST_CASE("an unknown adapter and a map without this rank are refused with what would be right") {
    const auto offers = usual_offers();
    try {
        (void)choose_nic(offers, {.text = "unit9"});
        FAIL("it did not throw");
    } catch (const UsageError& error) {
        CHECK(std::string(error.what()).find("unit0") != std::string::npos);
    }
    CHECK_THROWS_AS((void)choose_nic(offers, {.text = "0:unit0", .local_rank = 1}), UsageError);
}

TEST_CASE("a device that is not there has no facts and no counters") {
    const NicFacts nic = nic_of(offer("nowhere9", "10.1.2.3"));
    CHECK(nic.name.empty());
    CHECK(nic.link_rate_gbps < 0);
    CHECK(port_counter_paths(nic).empty());
}

TEST_CASE("the loopback interface counts its bytes") {
    const NicFacts nic = nic_of(offer("lo", "127.0.0.1"));
    CHECK(nic.name == "lo");
    bool has_bytes = false;
    for (const auto& [name, path] : port_counter_paths(nic)) has_bytes |= name == "lo/statistics/tx_bytes";
    CHECK(has_bytes);
}
