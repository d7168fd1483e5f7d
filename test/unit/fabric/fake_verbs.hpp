// SPDX-License-Identifier: BSD-3-Clause
// A libibverbs with one device, "fake0", that says what a test wants: see fake_verbs.cpp, a library of its own.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace a2aperf::test {

struct FakeVerbs {
    ibv_device_attr device{};
    std::map<int, ibv_port_attr> ports{}; // by number; another one is refused
    bool has_list = true, opens = true, tells = true, has_domains = true, has_queues = true, has_pairs = true;
    std::uint32_t most_inline = 220;
    bool refuses_more = true;        // else it grants the most
    std::uint32_t inline_steps = 1;  // grants multiples of it
    int open = 0, pairs_created = 0; // what is not closed yet
};

// Loaded once, as the program does it.
inline FakeVerbs& fake_verbs(const char* library) {
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(dlerror());
    using Get = FakeVerbs*();
    return *reinterpret_cast<Get*>(dlsym(handle, "fake_verbs_of_test"))();
}

} // namespace a2aperf::test
