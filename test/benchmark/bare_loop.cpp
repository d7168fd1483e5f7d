// SPDX-License-Identifier: BSD-3-Clause
// The barest loop of libfabric's calls that moves messages one way, as fi_rdm_tagged_bw and fi_rma_bw of fabtests
// do: a window of posts, a wait for all of them, an answer. against_fabtests.py holds our streams against it where
// there is no fabtests. To be launched with two ranks; MPI only exchanges the addresses:
//
//   bare-loop PROVIDER tagged|write-imm SIZE WINDOW MESSAGES WARMUP
//
// Rank 0 sends and prints fabtests' figures, in its form for programs (-m). Errors end both ranks, and waits have
// their deadline in mpirun.sh.
#include <mpi.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t kMessage = 1, kAnswer = 2; // tags
constexpr std::size_t kAnswerBytes = 4;
constexpr std::uint64_t kKey = 0xa2a;

[[noreturn]] void end(const char* call, ssize_t status) {
    std::fprintf(stderr, "bare-loop: %s: %s\n", call, fi_strerror(static_cast<int>(-status)));
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

void require(const char* call, ssize_t status) {
    if (status < 0) end(call, status);
}

struct Asked {
    std::string provider;
    bool is_tagged;
    std::size_t size;
    int window, messages, warmup;
};

// What the other rank has to know.
struct Target {
    std::array<char, 256> name{};
    std::size_t name_bytes = 256;
    std::uint64_t address = 0, key = 0;
};

class Loop {
public:
    explicit Loop(const Asked& asked) : asked_(asked), contexts_(static_cast<std::size_t>(asked.window) + 1) {
        open();
        meet();
    }

    ~Loop() {
        fi_close(&endpoint_->fid);
        fi_close(&region_->fid);
        for (fid_cq* queue : {sent_, received_}) fi_close(&queue->fid);
        fi_close(&addresses_->fid);
        fi_close(&domain_->fid);
        fi_close(&fabric_->fid);
        fi_freeinfo(info_);
    }

    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // µs from the first message after the warm-up to the last answer.
    double send() {
        using Clock = std::chrono::steady_clock;
        Clock::time_point begin;
        post_answer();
        int in_window = 0;
        for (int i = 0; i < asked_.warmup + asked_.messages; ++i) {
            if (i == asked_.warmup) begin = Clock::now();
            post(in_window);
            if (++in_window < asked_.window) continue;
            take_answer();
            in_window = 0;
        }
        if (in_window > 0) take_answer();
        return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    }

    void receive() {
        int in_window = 0;
        for (int i = 0; i < asked_.warmup + asked_.messages; ++i) {
            expect(in_window);
            if (++in_window < asked_.window && i + 1 < asked_.warmup + asked_.messages) continue;
            arrived_ += in_window;
            wait(received_, came_, arrived_);
            answer();
            in_window = 0;
        }
    }

private:
    void open() {
        fi_info* hints = fi_allocinfo();
        hints->caps = asked_.is_tagged ? FI_TAGGED : FI_RMA | FI_MSG;
        hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
        hints->ep_attr->type = FI_EP_RDM;
        hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
        hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
        hints->fabric_attr->prov_name = strdup(asked_.provider.c_str());
        require("fi_getinfo", fi_getinfo(FI_VERSION(1, 11), nullptr, nullptr, 0, hints, &info_));
        fi_freeinfo(hints);
        require("fi_fabric", fi_fabric(info_->fabric_attr, &fabric_, nullptr));
        require("fi_domain", fi_domain(fabric_, info_, &domain_, nullptr));
        fi_av_attr table{};
        table.type = FI_AV_TABLE;
        require("fi_av_open", fi_av_open(domain_, &table, &addresses_, nullptr));
        fi_cq_attr queue{};
        queue.format = FI_CQ_FORMAT_DATA;
        queue.size = contexts_.size() + 1;
        for (fid_cq** one : {&sent_, &received_}) require("fi_cq_open", fi_cq_open(domain_, &queue, one, nullptr));
        require("fi_endpoint", fi_endpoint(domain_, info_, &endpoint_, nullptr));
        require("fi_ep_bind", fi_ep_bind(endpoint_, &addresses_->fid, 0));
        require("fi_ep_bind", fi_ep_bind(endpoint_, &sent_->fid, FI_TRANSMIT));
        require("fi_ep_bind", fi_ep_bind(endpoint_, &received_->fid, FI_RECV));
        require("fi_enable", fi_enable(endpoint_));
        bytes_.resize(2 * asked_.size + 2 * kAnswerBytes);
        const std::uint64_t access =
            asked_.is_tagged ? FI_SEND | FI_RECV : FI_SEND | FI_RECV | FI_WRITE | FI_REMOTE_WRITE;
        require("fi_mr_reg",
                fi_mr_reg(domain_, bytes_.data(), bytes_.size(), access, 0, kKey, 0, &region_, nullptr));
    }

    // Addresses and where to write; the other rank is whole then.
    void meet() {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        Target own, other;
        require("fi_getname", fi_getname(&endpoint_->fid, own.name.data(), &own.name_bytes));
        const bool is_virtual = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
        own.address = (is_virtual ? reinterpret_cast<std::uint64_t>(bytes_.data()) : 0) + asked_.size;
        own.key = fi_mr_key(region_);
        MPI_Sendrecv(&own, sizeof own, MPI_BYTE, 1 - rank, 0, &other, sizeof other, MPI_BYTE, 1 - rank, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (fi_av_insert(addresses_, other.name.data(), 1, &peer_, 0, nullptr) != 1)
            end("fi_av_insert", -FI_EINVAL);
        place_ = other.address;
        key_ = other.key;
    }

    char* outgoing() { return bytes_.data(); }
    char* incoming() { return bytes_.data() + asked_.size; }
    char* answer_out() { return bytes_.data() + 2 * asked_.size; }
    char* answer_in() { return answer_out() + kAnswerBytes; }
    void* context(int at) { return &contexts_[static_cast<std::size_t>(at)]; }
    void* spare_context() { return &contexts_.back(); }

    static void take(fid_cq* queue, std::int64_t& count) {
        std::array<fi_cq_data_entry, 64> entries;
        const ssize_t got = fi_cq_read(queue, entries.data(), entries.size());
        if (got > 0)
            count += got;
        else if (got != -FI_EAGAIN)
            end("fi_cq_read", got);
    }

    static void wait(fid_cq* queue, std::int64_t& count, std::int64_t wanted) {
        while (count < wanted) take(queue, count);
    }

    // Until there is room: what is done makes it.
    template <class Post>
    void insist(const char* call, Post post) {
        for (ssize_t status; (status = post()) != 0;) {
            if (status != -FI_EAGAIN) end(call, status);
            take(sent_, done_);
            take(received_, came_);
        }
    }

    void post(int at) {
        void* region = fi_mr_desc(region_);
        // Injected messages have no completion, as in fabtests.
        const bool is_injected = asked_.size < info_->tx_attr->inject_size;
        insist("a message", [&] {
            if (asked_.is_tagged)
                return is_injected
                           ? fi_tinject(endpoint_, outgoing(), asked_.size, peer_, kMessage)
                           : fi_tsend(endpoint_, outgoing(), asked_.size, region, peer_, kMessage, context(at));
            return is_injected
                       ? fi_inject_writedata(endpoint_, outgoing(), asked_.size, kMessage, peer_, place_, key_)
                       : fi_writedata(endpoint_, outgoing(), asked_.size, region, kMessage, peer_, place_, key_,
                                      context(at));
        });
        if (!is_injected) ++posted_;
    }

    void expect(int at) {
        void* region = fi_mr_desc(region_);
        const bool needs_receive = asked_.is_tagged || (info_->rx_attr->mode & FI_RX_CQ_DATA) != 0;
        if (!needs_receive) return;
        insist("a receive", [&] {
            return asked_.is_tagged
                       ? fi_trecv(endpoint_, incoming(), asked_.size, region, peer_, kMessage, 0, context(at))
                       : fi_recv(endpoint_, incoming(), 0, region, peer_, context(at));
        });
    }

    void post_answer() {
        void* region = fi_mr_desc(region_);
        insist("the answer's receive", [&] {
            return asked_.is_tagged
                       ? fi_trecv(endpoint_, answer_in(), kAnswerBytes, region, peer_, kAnswer, 0, spare_context())
                       : fi_recv(endpoint_, answer_in(), kAnswerBytes, region, peer_, spare_context());
        });
    }

    void take_answer() {
        wait(sent_, done_, posted_);
        wait(received_, came_, ++arrived_);
        post_answer();
    }

    void answer() {
        void* region = fi_mr_desc(region_);
        insist("the answer", [&] {
            return asked_.is_tagged
                       ? fi_tsend(endpoint_, answer_out(), kAnswerBytes, region, peer_, kAnswer, spare_context())
                       : fi_send(endpoint_, answer_out(), kAnswerBytes, region, peer_, spare_context());
        });
        wait(sent_, done_, ++posted_);
    }

    Asked asked_;
    std::vector<fi_context2> contexts_; // one of each message of a window, and one of the answer
    std::vector<char> bytes_;           // a message out, one in, an answer out, one in
    fi_info* info_ = nullptr;
    fid_fabric* fabric_ = nullptr;
    fid_domain* domain_ = nullptr;
    fid_av* addresses_ = nullptr;
    fid_cq *sent_ = nullptr, *received_ = nullptr;
    fid_ep* endpoint_ = nullptr;
    fid_mr* region_ = nullptr;
    fi_addr_t peer_ = 0;
    std::uint64_t place_ = 0, key_ = 0;
    std::int64_t posted_ = 0, done_ = 0;  // sends
    std::int64_t arrived_ = 0, came_ = 0; // receives that are waited for, and those that are complete
};

void print(const Asked& asked, double micros) {
    const double bytes = static_cast<double>(asked.size) * asked.messages;
    std::printf("- { xfer_size: %zu, iterations: %d, total: %.0f, time: %f, MB/sec: %f, usec/xfer: %f }\n",
                asked.size, asked.messages, bytes, micros / 1e6, bytes / micros, micros / asked.messages);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string mode = argc == 7 ? argv[2] : "";
    const auto number = [&](int at) { return std::atoi(argv[at]); };
    const bool is_right = ranks == 2 && (mode == "tagged" || mode == "write-imm") && number(3) > 0 &&
                          number(4) > 0 && number(5) > 0 && number(6) >= 0;
    if (!is_right) {
        if (rank == 0)
            std::fputs("two ranks: bare-loop PROVIDER tagged|write-imm SIZE WINDOW MESSAGES WARMUP\n", stderr);
        MPI_Finalize();
        return 2;
    }
    const Asked asked{argv[1],   mode == "tagged", static_cast<std::size_t>(number(3)),
                      number(4), number(5),        number(6)};
    {
        Loop loop(asked);
        if (rank == 0)
            print(asked, loop.send());
        else
            loop.receive();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
