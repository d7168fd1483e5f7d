// SPDX-License-Identifier: BSD-3-Clause
#include "fake_verbs.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#undef ibv_query_port

namespace {

a2aperf::test::FakeVerbs fake;
ibv_device device;
std::array<ibv_device*, 2> list{&device, nullptr};
ibv_context context;
ibv_pd domain;
ibv_cq queue;
ibv_qp pair;

template <class T>
T* opened(bool may, T& one, int error) {
    if (!may) {
        errno = error;
        return nullptr;
    }
    ++fake.open;
    return &one;
}

int closed() {
    --fake.open;
    return 0;
}

} // namespace

extern "C" {

a2aperf::test::FakeVerbs* fake_verbs_of_test() {
    return &fake;
}

ibv_device** ibv_get_device_list(int* count) {
    *count = 1;
    return opened(fake.has_list, *list.data(), ENOSYS);
}

void ibv_free_device_list(ibv_device**) {
    closed();
}

const char* ibv_get_device_name(ibv_device*) {
    return "fake0";
}

ibv_context* ibv_open_device(ibv_device*) {
    return opened(fake.opens, context, EACCES);
}

int ibv_close_device(ibv_context*) {
    return closed();
}

int ibv_query_device(ibv_context*, ibv_device_attr* attributes) {
    *attributes = fake.device;
    return fake.tells ? 0 : EIO;
}

int ibv_query_port(ibv_context*, std::uint8_t number, _compat_ibv_port_attr* attributes) {
    const auto found = fake.ports.find(number);
    if (found == fake.ports.end()) return EINVAL;
    std::memcpy(static_cast<void*>(attributes), &found->second, sizeof found->second);
    return 0;
}

ibv_pd* ibv_alloc_pd(ibv_context*) {
    return opened(fake.has_domains, domain, ENOMEM);
}

int ibv_dealloc_pd(ibv_pd*) {
    return closed();
}

ibv_cq* ibv_create_cq(ibv_context*, int, void*, ibv_comp_channel*, int) {
    return opened(fake.has_queues, queue, ENOMEM);
}

int ibv_destroy_cq(ibv_cq*) {
    return closed();
}

ibv_qp* ibv_create_qp(ibv_pd*, ibv_qp_init_attr* wanted) {
    ++fake.pairs_created;
    std::uint32_t& asked = wanted->cap.max_inline_data;
    const bool is_too_much = asked > fake.most_inline;
    if (is_too_much && !fake.refuses_more) asked = fake.most_inline;
    asked = (asked + fake.inline_steps - 1) / fake.inline_steps * fake.inline_steps;
    return opened(fake.has_pairs && !(is_too_much && fake.refuses_more), pair, EINVAL);
}

int ibv_destroy_qp(ibv_qp*) {
    return closed();
}
}
