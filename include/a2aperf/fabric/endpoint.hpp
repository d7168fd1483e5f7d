// SPDX-License-Identifier: BSD-3-Clause
// A reliable datagram endpoint with its one completion queue, which may be that of others, too, and the addresses
// of its peers.
#pragma once

#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "a2aperf/fabric/domain.hpp"

namespace a2aperf {

enum class Wait { none, object }; // object: the queue can be slept on

enum class Completions { all, asked }; // of sends: asked = of those alone that ask for theirs

// What libfabric said of an operation that failed.
struct CompletionError {
    void* context = nullptr;
    int code = 0; // FI_E…
    std::string text;
};

class Endpoint {
public:
    // depth: completions that may be outstanding at once.
    Endpoint(const Domain& domain, std::size_t depth, Wait wait, Completions completions = Completions::all);
    // With the queue of another one of that domain, and likewise; whichever of them is there last closes it.
    Endpoint(const Domain& domain, const Endpoint& other);

    std::string address() const; // raw bytes, to be given to every peer
    // Addresses of all ranks in rank order, own included; all of one length, unless they are text.
    void insert_peers(std::span<const std::string> addresses);

    // What this process, of that rank, sends itself goes to another endpoint of its own, always the same; or to
    // this one.
    void face(int self, const Endpoint& other);
    void face_itself(int self) noexcept;

    fid_ep* get() const { return endpoint_.get(); }
    fid_cq* queue() const { return queue_.get(); }
    Completions completions() const { return completions_; }
    const std::vector<fi_addr_t>& peers() const { return peers_; }
    const std::vector<std::string>& peer_addresses() const { return peer_addresses_; } // as inserted

    // Takes the error that fi_cq_read announced with -FI_EAVAIL.
    CompletionError take_error() const;

private:
    Endpoint(const Domain& domain, std::shared_ptr<fid_cq> queue, Completions completions);
    void insert(const std::string& addresses, std::size_t count, fi_addr_t* peers);

    bool has_text_addresses_;
    Completions completions_;
    // Destruction runs from the end: the endpoint goes first, as libfabric demands.
    FidPtr<fid_av> addresses_;
    std::shared_ptr<fid_cq> queue_;
    FidPtr<fid_ep> endpoint_;
    std::vector<fi_addr_t> peers_;
    std::vector<std::string> peer_addresses_;
    fi_addr_t own_ = FI_ADDR_UNSPEC,
              other_ = FI_ADDR_UNSPEC; // in place of itself; unknown until it has faced another
};

} // namespace a2aperf
