// SPDX-License-Identifier: BSD-3-Clause
// Ownership of libfabric's objects.
#pragma once

#include <rdma/fabric.h>

#include <memory>

namespace a2aperf {

struct FidCloser {
    template <class Fid>
    void operator()(Fid* object) const noexcept {
        // The order of destruction is right by construction, and a destructor has nobody to tell.
        (void)fi_close(&object->fid);
    }
};

template <class Fid>
using FidPtr = std::unique_ptr<Fid, FidCloser>;

struct InfoCloser {
    void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using InfoPtr = std::unique_ptr<fi_info, InfoCloser>;

} // namespace a2aperf
