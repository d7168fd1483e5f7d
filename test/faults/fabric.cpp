// SPDX-License-Identifier: BSD-3-Clause
// Faults of the fabric: copies of the tables of functions that libfabric's objects carry, put in as these are
// opened. A layered provider's objects below are not ours and stay as they are. Calls that fail: fi_getinfo,
// fi_fabric, fi_domain, fi_av_open, fi_cq_open, fi_endpoint, fi_ep_bind, fi_enable, fi_getname, fi_av_insert (also
// "partly"), fi_mr_reg, fi_cq_read, receive (the posting of one). fi_mr_enable also makes the provider one that
// wants every buffer registered, bound to the endpoint and enabled, for what it is used for, and has a key only
// then (cxi); do=demand is no more than that. Messages, where they are sent: send, with an error, lose, double,
// misdirect (to where the one before went), flip, renumber (the data name another op), stop, kill,
// term (that signal, then the message). Flags and other words of a peer: flag, with an error, lose, or a signal as
// above. Messages, where their
// completion is read: sent, received, with an error, lose, double, late:MILLISECONDS. outstanding, do=count:
// nothing goes wrong, and at the end it is noted how many messages of a rank had gone and not completed, at most.
#include <dlfcn.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "plan.hpp"

using faults::plan;
using faults::strikes;

namespace {

using Clock = std::chrono::steady_clock;

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// What was there before, one object of a kind in each rank.
fi_ops_fabric g_fabric;
fi_ops_domain g_domain;
fi_ops_mr g_memory;
fi_ops_av g_addresses;
fi_ops_cq g_queue;
fi_ops g_object;
fi_ops_cm g_manager;
fi_ops_tagged g_tagged;
fi_ops_rma g_write;
fi_ops_msg g_message;

// Memory of a provider that demands more than those here do.
struct Memory {
    fid_mr* mr;
    std::uint64_t access, key; // the key is told when it is enabled
    void* descriptor;          // the real one
    bool is_bound = false, is_enabled = false;
};
std::deque<Memory> g_memories;

bool demands_memory() {
    return plan().call == "fi_mr_enable";
}

// The provider's own descriptor, or why the memory can't be used so.
ssize_t take_descriptor(void*& descriptor, std::uint64_t access) {
    if (!demands_memory()) return 0;
    const auto* const memory = static_cast<const Memory*>(descriptor);
    if (memory == nullptr || !memory->is_enabled) return -FI_EINVAL;
    if ((memory->access & access) != access) return -FI_EACCES;
    descriptor = memory->descriptor;
    return 0;
}

template <class Ops>
Ops* replace(Ops*& table, Ops& before) {
    before = *table;
    table = new Ops(before);
    return table;
}

int failure() {
    return -plan().error;
}

// Completions that come later than libfabric gives them, or that it never gave.
struct Held {
    fi_cq_data_entry entry;
    Clock::time_point due;
};
std::deque<Held> g_held;
std::optional<fi_cq_data_entry> g_failed; // to be told by fi_cq_readerr
fi_context2 g_twin;                       // of a message sent twice: its second completion is nobody's

void hold(const fi_cq_data_entry& entry, std::chrono::milliseconds time) {
    g_held.push_back({entry, Clock::now() + time});
}

// Sending

struct Route {
    const void* bytes;
    size_t size;
    fi_addr_t to;
    std::uint64_t address = 0, key = 0; // of writes and reads
};
Route g_last{}, g_before{};   // the message at hand, and the one before
bool g_is_refused = false;    // the one at hand found no room: it comes again
bool g_is_renumbered = false; // the one at hand names another op

bool is_renumbered() {
    return std::exchange(g_is_renumbered, false);
}

const void* with_a_wrong_byte(const Route& route) {
    auto* copy = new std::vector<char>(route.size); // lives on: the provider may read it at any time
    std::memcpy(copy->data(), route.bytes, route.size);
    (*copy)[route.size / 2] ^= 1;
    return copy->data();
}

// Messages that complete and have not yet, by what names them; of call=outstanding, where one thread sends.
std::unordered_set<const void*> g_outstanding;
std::size_t g_most_outstanding = 0;

bool counts_outstanding() {
    return plan().is_here && plan().call == "outstanding";
}

ssize_t counted(ssize_t status, const void* context) {
    if (status != 0 || context == nullptr || !counts_outstanding()) return status;
    g_outstanding.insert(context);
    g_most_outstanding = std::max(g_most_outstanding, g_outstanding.size());
    return status;
}

[[gnu::destructor]] void tell_outstanding() {
    if (counts_outstanding()) faults::note("outstanding", static_cast<long>(g_most_outstanding));
}

// Reads what has completed into the held ones, so that the provider gets on.
void make_room();

// A fault is put into one message, so that one must go; what stands in its way is read meanwhile.
template <class Post>
ssize_t retry(const Route& route, void* context, Post post) {
    ssize_t status = 0;
    while ((status = post(route, context)) == -FI_EAGAIN) make_room();
    return status;
}

// post(route, context); a context is that of a message that completes.
template <class Post>
ssize_t send(const Route& route, void* context, Post post) {
    const bool is_retry = g_is_refused && g_last.bytes == route.bytes && g_last.to == route.to;
    if (!is_retry) {
        g_before = g_last.bytes != nullptr ? g_last : route;
        g_last = route;
    }
    // Messages are counted, not what the provider has no room for; of those that go wrong here, every attempt.
    if (is_retry || !strikes("send")) {
        const ssize_t status = counted(post(route, context), context);
        g_is_refused = status == -FI_EAGAIN;
        return status;
    }
    g_is_refused = false;
    const std::string_view action = plan().action;
    g_is_renumbered = action == "renumber";
    Route other = route;
    if (action == "lose") {
        if (context != nullptr) hold({context, FI_SEND, route.size, nullptr, 0}, std::chrono::milliseconds(0));
        return 0;
    }
    if (const int number = faults::signal_of(action); number != 0) raise(number);
    if (action == "flip") other.bytes = with_a_wrong_byte(route);
    if (action == "misdirect") {
        other = g_before;
        other.bytes = route.bytes;
    }
    if (action == "double") {
        if (const ssize_t status = retry(route, context, post); status != 0) return status;
        return retry(route, context != nullptr ? &g_twin : nullptr, post);
    }
    return plan().error != 0 ? failure() : retry(other, context, post);
}

ssize_t tagged_send(fid_ep* ep, const void* bytes, size_t size, void* descriptor, fi_addr_t to, uint64_t tag,
                    void* context) {
    if (const ssize_t status = take_descriptor(descriptor, FI_SEND); status != 0) return status;
    return send({bytes, size, to}, context, [&](const Route& route, void* own) {
        return g_tagged.send(ep, route.bytes, size, descriptor, route.to, tag, own);
    });
}

constexpr std::uint64_t kOpBit = std::uint64_t{1} << 24; // of the data that name op and source

// post(message): one of fi_msg or fi_msg_tagged.
template <class Message, class Post>
ssize_t send_whole(const Message* message, Post post) {
    void* descriptor = message->desc[0];
    if (const ssize_t status = take_descriptor(descriptor, FI_SEND); status != 0) return status;
    const iovec& bytes = message->msg_iov[0];
    return send({bytes.iov_base, bytes.iov_len, message->addr}, message->context,
                [&](const Route& route, void* own) {
                    const iovec part{const_cast<void*>(route.bytes), route.size};
                    Message other = *message;
                    other.msg_iov = &part;
                    other.desc = &descriptor;
                    other.addr = route.to;
                    other.context = own;
                    if (is_renumbered()) other.data ^= kOpBit;
                    return post(&other);
                });
}

ssize_t tagged_send_message(fid_ep* ep, const fi_msg_tagged* message, uint64_t flags) {
    return send_whole(message, [&](const fi_msg_tagged* other) { return g_tagged.sendmsg(ep, other, flags); });
}

ssize_t tagged_inject(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to, uint64_t tag) {
    return send({bytes, size, to}, nullptr,
                [&](const Route& route, void*) { return g_tagged.inject(ep, route.bytes, size, route.to, tag); });
}

ssize_t send_data(fid_ep* ep, const void* bytes, size_t size, void* descriptor, uint64_t data, fi_addr_t to,
                  void* context) {
    if (const ssize_t status = take_descriptor(descriptor, FI_SEND); status != 0) return status;
    return send({bytes, size, to}, context, [&](const Route& route, void* own) {
        if (is_renumbered()) data ^= kOpBit;
        return g_message.senddata(ep, route.bytes, size, descriptor, data, route.to, own);
    });
}

ssize_t send_message(fid_ep* ep, const fi_msg* message, uint64_t flags) {
    return send_whole(message, [&](const fi_msg* other) { return g_message.sendmsg(ep, other, flags); });
}

ssize_t inject_data(fid_ep* ep, const void* bytes, size_t size, uint64_t data, fi_addr_t to) {
    return send({bytes, size, to}, nullptr, [&](const Route& route, void*) {
        if (is_renumbered()) data ^= kOpBit;
        return g_message.injectdata(ep, route.bytes, size, data, route.to);
    });
}

ssize_t write_data(fid_ep* ep, const void* bytes, size_t size, void* descriptor, uint64_t data, fi_addr_t to,
                   uint64_t address, uint64_t key, void* context) {
    if (const ssize_t status = take_descriptor(descriptor, FI_WRITE); status != 0) return status;
    return send({bytes, size, to, address, key}, context, [&](const Route& route, void* own) {
        if (is_renumbered()) data ^= kOpBit;
        return g_write.writedata(ep, route.bytes, size, descriptor, data, route.to, route.address, route.key, own);
    });
}

ssize_t inject_write_data(fid_ep* ep, const void* bytes, size_t size, uint64_t data, fi_addr_t to, uint64_t address,
                          uint64_t key) {
    return send({bytes, size, to, address, key}, nullptr, [&](const Route& route, void*) {
        if (is_renumbered()) data ^= kOpBit;
        return g_write.injectdata(ep, route.bytes, size, data, route.to, route.address, route.key);
    });
}

ssize_t write_message(fid_ep* ep, const void* bytes, size_t size, void* descriptor, fi_addr_t to, uint64_t address,
                      uint64_t key, void* context) {
    if (const ssize_t status = take_descriptor(descriptor, FI_WRITE); status != 0) return status;
    return send({bytes, size, to, address, key}, context, [&](const Route& route, void* own) {
        return g_write.write(ep, route.bytes, size, descriptor, route.to, route.address, route.key, own);
    });
}

// Nothing goes wrong with these.
ssize_t write_whole(fid_ep* ep, const fi_msg_rma* message, uint64_t flags) {
    return counted(g_write.writemsg(ep, message, flags), message->context);
}

// A message, or the flag behind one: those are injected, and of the tests' messages none has their size.
ssize_t inject_write(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to, uint64_t address, uint64_t key) {
    if (size == sizeof(std::uint64_t)) {
        if (!strikes("flag")) return g_write.inject(ep, bytes, size, to, address, key);
        if (plan().action == "lose") return 0;
        const int number = faults::signal_of(plan().action);
        if (number == 0) return failure();
        raise(number);
        return g_write.inject(ep, bytes, size, to, address, key);
    }
    return send({bytes, size, to, address, key}, nullptr, [&](const Route& route, void*) {
        return g_write.inject(ep, route.bytes, size, route.to, route.address, route.key);
    });
}

// The route is the other way round: where the bytes come from.
ssize_t read_message(fid_ep* ep, void* space, size_t size, void* descriptor, fi_addr_t from, uint64_t address,
                     uint64_t key, void* context) {
    if (const ssize_t status = take_descriptor(descriptor, FI_READ); status != 0) return status;
    return send({space, size, from, address, key}, context, [&](const Route& route, void* own) {
        return g_write.read(ep, space, size, descriptor, route.to, route.address, route.key, own);
    });
}

ssize_t tagged_receive(fid_ep* ep, void* space, size_t size, void* descriptor, fi_addr_t from, uint64_t tag,
                       uint64_t ignore, void* context) {
    if (strikes("receive")) return failure();
    if (const ssize_t status = take_descriptor(descriptor, FI_RECV); status != 0) return status;
    return g_tagged.recv(ep, space, size, descriptor, from, tag, ignore, context);
}

ssize_t receive(fid_ep* ep, void* space, size_t size, void* descriptor, fi_addr_t from, void* context) {
    if (strikes("receive")) return failure();
    // What a write consumes takes no bytes and needs no memory.
    if (space != nullptr)
        if (const ssize_t status = take_descriptor(descriptor, FI_RECV); status != 0) return status;
    return g_message.recv(ep, space, size, descriptor, from, context);
}

// Completions

fid_cq* g_open_queue = nullptr;

void make_room() {
    fi_cq_data_entry entry{};
    if (g_queue.read(g_open_queue, &entry, 1) == 1) hold(entry, std::chrono::milliseconds(0));
}

// Whether the entry is to be given to the program now.
bool passes(const fi_cq_data_entry& entry) {
    if (entry.op_context == &g_twin) return false;
    if (counts_outstanding()) g_outstanding.erase(entry.op_context);
    const bool is_arrival = (entry.flags & (FI_RECV | FI_REMOTE_CQ_DATA | FI_REMOTE_WRITE)) != 0;
    if (!strikes(is_arrival ? "received" : "sent")) return true;
    const std::string_view action = plan().action;
    if (action == "late") hold(entry, std::chrono::milliseconds(plan().number));
    if (action == "double") hold(entry, std::chrono::milliseconds(0));
    if (plan().error != 0) g_failed = entry;
    return action == "double";
}

template <class Read>
ssize_t read_through(void* buffer, size_t count, Read read) {
    if (g_failed) return -FI_EAVAIL;
    if (strikes("fi_cq_read")) return failure();
    auto* const entries = static_cast<fi_cq_data_entry*>(buffer);
    size_t given = 0;
    while (given < count && !g_held.empty() && g_held.front().due <= Clock::now()) {
        entries[given++] = g_held.front().entry;
        g_held.pop_front();
    }
    if (given > 0) return static_cast<ssize_t>(given);
    const ssize_t found = read(buffer, count);
    for (ssize_t i = 0; i < found; ++i)
        if (const fi_cq_data_entry entry = entries[i]; passes(entry)) entries[given++] = entry;
    if (found < 0 || given > 0) return found < 0 ? found : static_cast<ssize_t>(given);
    return -FI_EAGAIN;
}

ssize_t queue_read(fid_cq* cq, void* buffer, size_t count) {
    return read_through(buffer, count, [&](void* to, size_t most) { return g_queue.read(cq, to, most); });
}

ssize_t queue_sleep(fid_cq* cq, void* buffer, size_t count, const void* condition, int timeout) {
    return read_through(buffer, count,
                        [&](void* to, size_t most) { return g_queue.sread(cq, to, most, condition, timeout); });
}

ssize_t queue_error(fid_cq* cq, fi_cq_err_entry* error, uint64_t flags) {
    if (!g_failed) return g_queue.readerr(cq, error, flags);
    error->op_context = g_failed->op_context;
    error->flags = g_failed->flags;
    error->len = g_failed->len;
    error->err = error->prov_errno = plan().error;
    g_failed.reset();
    return 1;
}

// Opening. Ours are the program's own objects, which it opens first and one of a kind: providers open others from
// within, then or later.

int g_depth = 0;

struct Inside {
    Inside() { ++g_depth; }
    ~Inside() { --g_depth; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
};

bool is_ours(bool& is_open) {
    return g_depth == 0 && !std::exchange(is_open, true);
}

void note_class(const char* of, std::uint32_t tclass) {
    if (plan().is_here && plan().call == "tclass") faults::note(of, static_cast<long>(tclass));
}

// open(): the real call; then wrap() where the object is ours.
template <class Open, class Wrap>
int open_through(const char* call, bool& is_open, Open open, Wrap wrap) {
    const bool ours = is_ours(is_open);
    if (ours && strikes(call)) return failure();
    const Inside inside;
    const int status = open();
    if (ours && status == 0) wrap();
    return status;
}

int object_control(fid* object, int command, void* argument) {
    if (command != FI_ENABLE) return g_object.control(object, command, argument);
    if (strikes("fi_enable")) return failure();
    if (const int status = g_object.control(object, command, argument); status != 0) return status;
    // Some providers choose these tables only now.
    auto* const ep = reinterpret_cast<fid_ep*>(object);
    if (ep->tagged != nullptr) {
        auto* const tagged = replace(ep->tagged, g_tagged);
        tagged->send = tagged_send;
        tagged->sendmsg = tagged_send_message;
        tagged->inject = tagged_inject;
        tagged->recv = tagged_receive;
    }
    if (ep->msg != nullptr) {
        auto* const message = replace(ep->msg, g_message);
        message->senddata = send_data;
        message->sendmsg = send_message;
        message->injectdata = inject_data;
        message->recv = receive;
    }
    if (ep->rma != nullptr) {
        auto* const rma = replace(ep->rma, g_write);
        rma->write = write_message;
        rma->writemsg = write_whole;
        rma->inject = inject_write;
        rma->writedata = write_data;
        rma->injectdata = inject_write_data;
        rma->read = read_message;
    }
    return 0;
}

int object_bind(fid* object, fid* other, uint64_t flags) {
    return strikes("fi_ep_bind") ? failure() : g_object.bind(object, other, flags);
}

int get_name(fid_t object, void* address, size_t* length) {
    return strikes("fi_getname") ? failure() : g_manager.getname(object, address, length);
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** ep, void* context) {
    static bool is_open = false;
    if (g_depth == 0) note_class("endpoint", info->tx_attr->tclass);
    return open_through(
        "fi_endpoint", is_open, [&] { return g_domain.endpoint(domain, info, ep, context); },
        [&] {
            auto* const object = replace((*ep)->fid.ops, g_object);
            object->control = object_control;
            object->bind = object_bind;
            replace((*ep)->cm, g_manager)->getname = get_name;
        });
}

int insert(fid_av* av, const void* addresses, size_t count, fi_addr_t* places, uint64_t flags, void* context) {
    if (!strikes("fi_av_insert")) return g_addresses.insert(av, addresses, count, places, flags, context);
    if (plan().action != "partly") return failure();
    return g_addresses.insert(av, addresses, count - 1, places, flags, context);
}

int open_addresses(fid_domain* domain, fi_av_attr* attributes, fid_av** av, void* context) {
    static bool is_open = false;
    return open_through(
        "fi_av_open", is_open, [&] { return g_domain.av_open(domain, attributes, av, context); },
        [&] { replace((*av)->ops, g_addresses)->insert = insert; });
}

int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** cq, void* context) {
    static bool is_open = false;
    return open_through(
        "fi_cq_open", is_open, [&] { return g_domain.cq_open(domain, attributes, cq, context); },
        [&] {
            g_open_queue = *cq;
            auto* const queue = replace((*cq)->ops, g_queue);
            queue->read = queue_read;
            queue->sread = queue_sleep;
            queue->readerr = queue_error;
        });
}

Memory& memory_of(fid* object) {
    return *static_cast<Memory*>(reinterpret_cast<fid_mr*>(object)->mem_desc);
}

int bind_memory(fid* object, fid* endpoint, uint64_t /*flags*/) {
    if (endpoint->fclass != FI_CLASS_EP) return -FI_EINVAL;
    memory_of(object).is_bound = true;
    return 0;
}

int control_memory(fid* object, int command, void* /*argument*/) {
    Memory& memory = memory_of(object);
    if (command != FI_ENABLE || !memory.is_bound) return -FI_EINVAL;
    if (strikes("fi_mr_enable") && plan().error != 0) return failure();
    memory.is_enabled = true;
    memory.mr->key = memory.key;
    return 0;
}

int register_memory(fid* object, const void* address, size_t size, uint64_t access, uint64_t offset, uint64_t key,
                    uint64_t flags, fid_mr** mr, void* context) {
    if (strikes("fi_mr_reg")) return failure();
    const int status = g_memory.reg(object, address, size, access, offset, key, flags, mr, context);
    if (status != 0 || !demands_memory() || g_depth > 0) return status;
    Memory& memory = g_memories.emplace_back(Memory{*mr, access, (*mr)->key, (*mr)->mem_desc});
    (*mr)->mem_desc = &memory;
    (*mr)->key = FI_KEY_NOTAVAIL;
    auto* const ops = new fi_ops(*(*mr)->fid.ops);
    ops->bind = bind_memory;
    ops->control = control_memory;
    (*mr)->fid.ops = ops;
    return 0;
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
    static bool is_open = false;
    if (g_depth == 0) note_class("domain", info->domain_attr->tclass);
    return open_through(
        "fi_domain", is_open, [&] { return g_fabric.domain(fabric, info, domain, context); },
        [&] {
            auto* const ops = replace((*domain)->ops, g_domain);
            ops->av_open = open_addresses;
            ops->cq_open = open_queue;
            ops->endpoint = open_endpoint;
            replace((*domain)->mr, g_memory)->reg = register_memory;
        });
}

} // namespace

extern "C" {

int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const fi_info* hints,
               fi_info** info) {
    static auto* const call =
        real<int(uint32_t, const char*, const char*, uint64_t, const fi_info*, fi_info**)>("fi_getinfo");
    if (g_depth == 0 && strikes("fi_getinfo")) return failure();
    int status = 0;
    {
        const Inside inside;
        status = call(version, node, service, flags, hints, info);
    }
    if (status == 0 && g_depth == 0 && demands_memory())
        for (fi_info* offer = *info; offer != nullptr; offer = offer->next)
            offer->domain_attr->mr_mode |= FI_MR_ENDPOINT | FI_MR_LOCAL;
    return status;
}

int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
    static auto* const call = real<int(fi_fabric_attr*, fid_fabric**, void*)>("fi_fabric");
    static bool is_open = false;
    return open_through(
        "fi_fabric", is_open, [&] { return call(attributes, fabric, context); },
        [&] { replace((*fabric)->ops, g_fabric)->domain = open_domain; });
}

} // extern "C"
