// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/endpoint.hpp"

#include <rdma/fi_errno.h>

#include <array>
#include <csignal>
#include <memory>
#include <set>
#include <system_error>

#include <doctest/doctest.h>

#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/job/stop_signal.hpp"

using namespace a2aperf;

namespace {

Offer first_offer(const char* provider) {
    auto all = offers(provider, FI_TAGGED | FI_SEND | FI_RECV);
    REQUIRE_FALSE(all.empty());
    return std::move(all.front());
}

} // namespace

// Its list of files to remove may be changing when the signal comes.
TEST_CASE("a signal stays ours when a provider has handlers of its own") {
    const Domain domain(first_offer("shm"));
    const auto handler = [](int number) {
        struct sigaction action {};
        sigaction(number, nullptr, &action);
        return action.sa_handler;
    };
    StopSignal::install();
    const auto before = handler(SIGTERM);
    const Endpoint endpoint(domain, 64, Wait::none);
    CHECK((handler(SIGTERM) == before)); // doctest cannot show a function
    CHECK((handler(SIGINT) == before));
}

// They end in the number that an endpoint has in its process, and hold the process's id: both may have a digit more
// than a peer's.
TEST_CASE("peers over shm have addresses of different lengths") {
    const Domain domain(first_offer("shm"));
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    std::vector<std::string> addresses;
    for (int i = 0; i < 11; ++i) {
        endpoints.push_back(std::make_unique<Endpoint>(domain, 64, Wait::none));
        addresses.push_back(endpoints.back()->address());
    }
    REQUIRE(addresses.front().size() < addresses.back().size());
    endpoints.front()->insert_peers(addresses);
    const auto& peers = endpoints.front()->peers();
    CHECK(std::set<fi_addr_t>(peers.begin(), peers.end()).size() == addresses.size());
}

TEST_CASE("endpoints of a domain can have one queue, which is there as long as one of them") {
    for (const char* provider : {"tcp", "shm"}) { // net loses an fi_info with each endpoint, until libfabric 1.18
        CAPTURE(provider);
        const Domain domain(first_offer(provider));
        auto first = std::make_unique<Endpoint>(domain, 64, Wait::none);
        const Endpoint second(domain, *first);
        CHECK(second.queue() == first->queue());
        CHECK(second.address() != first->address());
        first.reset();
        fi_cq_data_entry entry{};
        CHECK(fi_cq_read(second.queue(), &entry, 1) == -FI_EAGAIN);
    }
}

TEST_CASE("addresses that are not text are all of one length") {
    const Domain domain(first_offer("tcp"));
    Endpoint endpoint(domain, 64, Wait::none);
    const std::string own = endpoint.address();
    CHECK_THROWS_AS(endpoint.insert_peers(std::array{own, own + "1"}), std::system_error);
    endpoint.insert_peers(std::array{own, own});
    CHECK(endpoint.peers().size() == 2);
}
