// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/counters.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <sstream>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/job.hpp"
#include "cpu_frequency.hpp"

namespace a2aperf {
namespace {

namespace fs = std::filesystem;

std::int64_t nanoseconds(const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
}

// What stands behind each of the keys in /proc/…/status, in one reading; empty where it has none.
template <std::size_t N>
std::array<std::string, N> status_of(const fs::path& status, const std::array<std::string_view, N>& keys) {
    std::array<std::string, N> said;
    std::ifstream file(status);
    for (std::string line; std::getline(file, line);)
        for (std::size_t i = 0; i < N; ++i)
            if (line.starts_with(keys[i])) said[i] = line.substr(line.find_first_not_of(" \t", keys[i].size()));
    return said;
}

// Of "1234 kB"; -1 where nothing is said.
std::int64_t bytes_of(const std::string& said) {
    std::int64_t kib = -1;
    return std::istringstream(said) >> kib ? kib * 1024 : -1;
}

// Locked is what the process has locked itself, and what the kernel holds for a device that reads or writes it.
void read_memory(RankCounters& counters) {
    const auto said = status_of("/proc/self/status", std::array<std::string_view, 3>{"VmRSS:", "VmLck:", "VmPin:"});
    counters.resident_memory = bytes_of(said[0]);
    const std::int64_t locked = bytes_of(said[1]);
    const std::int64_t pinned = bytes_of(said[2]);
    counters.locked_memory = locked < 0 ? pinned : locked + std::max<std::int64_t>(pinned, 0);
}

// The main thread first, then the others as the kernel lists them.
void read_threads(RankCounters& counters) {
    std::string all;
    std::error_code ignored;
    for (const auto& task : fs::directory_iterator("/proc/self/task", ignored)) {
        ++counters.threads;
        if (!all.empty()) all += ';';
        const auto [cpus] =
            status_of(task.path() / "status", std::array<std::string_view, 1>{"Cpus_allowed_list:"});
        all += cpus.empty() ? "?" : cpus;
    }
    constexpr std::string_view kCut = "…";
    if (all.size() >= sizeof counters.thread_affinity) {
        all.resize(sizeof counters.thread_affinity - 1 - kCut.size());
        all += kCut;
    }
    std::memcpy(counters.thread_affinity, all.data(), all.size());
}

// "eth1" is named by "eth1-TxRx-0", and neither by "eth10-TxRx-0" nor by "veth1"; the driver "hfi1" by "hfi1_0
// sdma3".
bool names(std::string_view line, std::string_view device) {
    const auto is_alphanumeric = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    for (std::size_t at = line.find(device); at != std::string_view::npos; at = line.find(device, at + 1)) {
        const std::size_t end = at + device.size();
        const bool begins = at == 0 || (!is_alphanumeric(line[at - 1]) && line[at - 1] != '_');
        if (begins && (end == line.size() || !is_alphanumeric(line[end]))) return true;
    }
    return false;
}

// What changes, of a process and of a node.
constexpr std::array kOfRank{&RankCounters::voluntary_switches, &RankCounters::involuntary_switches,
                             &RankCounters::minor_faults,       &RankCounters::major_faults,
                             &RankCounters::user_time_ns,       &RankCounters::system_time_ns,
                             &RankCounters::wall_time_ns};
constexpr std::array kOfNode{&NodeCounters::interrupts,      &NodeCounters::net_rx,
                             &NodeCounters::net_tx,          &NodeCounters::user_time_ns,
                             &NodeCounters::system_time_ns,  &NodeCounters::irq_time_ns,
                             &NodeCounters::softirq_time_ns, &NodeCounters::steal_time_ns,
                             &NodeCounters::idle_time_ns,    &NodeCounters::wall_time_ns};

// The numbers behind "cpu", as far as there are any: user nice system idle iowait irq softirq steal, and then what
// is in user and nice already. None where one is no number: nobody knows which ones the others are.
std::vector<std::int64_t> ticks_of(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    std::vector<std::int64_t> ticks;
    while (words >> word) {
        std::int64_t value = 0;
        const char* const end = word.data() + word.size();
        const auto read = std::from_chars(word.data(), end, value);
        if (read.ec != std::errc{} || read.ptr != end || value < 0) return {};
        ticks.push_back(value);
    }
    return ticks;
}

} // namespace

void read_levels(RankCounters& counters) {
    read_threads(counters);
    read_memory(counters);
}

void read_frequency(RankCounters& counters) {
    counters.cpu_frequency_khz = cpu_frequency_khz(sched_getcpu());
}

RankCounters read_usage() {
    RankCounters counters{};
    counters.resident_memory = counters.locked_memory = counters.cpu_frequency_khz = -1;
    read_usage(counters);
    return counters;
}

void read_usage(RankCounters& counters) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    counters.voluntary_switches = usage.ru_nvcsw;
    counters.involuntary_switches = usage.ru_nivcsw;
    counters.minor_faults = usage.ru_minflt;
    counters.major_faults = usage.ru_majflt;
    counters.user_time_ns = nanoseconds(usage.ru_utime);
    counters.system_time_ns = nanoseconds(usage.ru_stime);
    counters.wall_time_ns = now_ns();
}

RankCounters read_rank_counters() {
    RankCounters counters = read_usage();
    read_levels(counters);
    return counters;
}

RankCounters difference(const RankCounters& before, const RankCounters& after) {
    RankCounters change = after;
    for (const auto member : kOfRank) change.*member -= before.*member;
    return change;
}

void accumulate(RankCounters& total, const RankCounters& more) {
    RankCounters sum = more;
    for (const auto member : kOfRank) sum.*member += total.*member;
    total = sum;
}

NodeCounterReader::NodeCounterReader(const std::vector<NicFacts>& adapters, const std::vector<std::string>& names) {
    std::vector<std::pair<std::string, std::string>> available;
    for (const NicFacts& nic : adapters) {
        const auto paths = port_counter_paths(nic);
        available.insert(available.end(), paths.begin(), paths.end());
        for (const std::string& word : {nic.name, nic.driver})
            if (!word.empty()) devices_.push_back(word);
    }
    for (const auto& name : names) {
        const auto found = std::find_if(available.begin(), available.end(),
                                        [&](const auto& entry) { return entry.first == name; });
        paths_.push_back(found != available.end() ? found->second : "");
    }
}

NodeCounters NodeCounterReader::read() const {
    NodeCounters counters;
    for (const auto& path : paths_) {
        std::int64_t value = -1;
        if (!path.empty()) std::ifstream(path) >> value;
        counters.ports.push_back(value);
    }
    std::ifstream table("/proc/interrupts");
    counters.interrupts = count_interrupts(table, devices_);
    std::stringstream softirqs;
    softirqs << std::ifstream("/proc/softirqs").rdbuf(); // both of one moment
    counters.net_rx = count_softirqs(softirqs, "NET_RX");
    softirqs.clear();
    softirqs.seekg(0);
    counters.net_tx = count_softirqs(softirqs, "NET_TX");
    std::ifstream stat("/proc/stat");
    read_cpu_times(stat, sysconf(_SC_CLK_TCK), counters);
    counters.wall_time_ns = now_ns();
    return counters;
}

std::int64_t count_interrupts(std::istream& table, const std::vector<std::string>& devices) {
    std::int64_t total = -1;
    std::string line;
    std::getline(table, line); // "CPU0 CPU1 …"
    const auto cpus = std::count(line.begin(), line.end(), 'C');
    while (std::getline(table, line)) {
        const bool is_ours = std::any_of(devices.begin(), devices.end(),
                                         [&](const std::string& device) { return names(line, device); });
        if (!is_ours) continue;
        std::istringstream words(line.substr(line.find(':') + 1));
        std::int64_t count = 0;
        total = std::max<std::int64_t>(total, 0);
        for (int cpu = 0; cpu < cpus && words >> count; ++cpu) total += count;
    }
    return total;
}

std::int64_t count_softirqs(std::istream& table, std::string_view name) {
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string label;
        words >> label;
        if (label.empty() || label.back() != ':' || std::string_view(label).substr(0, label.size() - 1) != name)
            continue;
        std::int64_t total = 0;
        for (std::int64_t count = 0; words >> count;) total += count;
        return total;
    }
    return -1;
}

void read_cpu_times(std::istream& table, std::int64_t ticks_per_second, NodeCounters& counters) {
    std::vector<std::int64_t> ticks;
    for (std::string line; ticks.empty() && std::getline(table, line);)
        if (line.starts_with("cpu ")) ticks = ticks_of(line);
    constexpr std::size_t kOldest = 4; // user nice system idle
    if (ticks.size() < kOldest || ticks_per_second <= 0) return;
    const std::int64_t tick = 1'000'000'000 / ticks_per_second;
    // A thousand CPUs have centuries of CPU time after some months: what does not fit begins at 0 again.
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / tick;
    const auto sum = [&](std::initializer_list<std::size_t> fields) {
        std::int64_t all = 0;
        for (const std::size_t field : fields)
            if (field < ticks.size()) all = (all + ticks[field] % most) % most;
        return *std::begin(fields) < ticks.size() ? all * tick : -1;
    };
    counters.user_time_ns = sum({0, 1});
    counters.system_time_ns = sum({2});
    counters.idle_time_ns = sum({3, 4}); // 4: idle, too, while a disk was waited for
    counters.irq_time_ns = sum({5});
    counters.softirq_time_ns = sum({6});
    counters.steal_time_ns = sum({7});
}

void accumulate(std::optional<NodeCounters>& total, const NodeCounters& before, const NodeCounters& after) {
    if (!total) {
        total.emplace().ports.resize(after.ports.size(), 0);
        for (const auto member : kOfNode) (*total).*member = 0;
    }
    const auto add = [](std::int64_t& sum, std::int64_t from, std::int64_t to) {
        const bool is_known =
            sum >= 0 && from >= 0 && to >= from; // what falls was reset: nobody knows how often it rose
        sum = is_known ? sum + (to - from) : -1;
    };
    for (const auto member : kOfNode) add((*total).*member, before.*member, after.*member);
    for (std::size_t i = 0; i < after.ports.size(); ++i) add(total->ports[i], before.ports[i], after.ports[i]);
}

PhaseCounts gather_counters(const Job& job, const RankCounters& of_rank,
                            const std::optional<NodeCounters>& of_node) {
    const NodeCounters here = of_node.value_or(NodeCounters{});
    std::vector<std::int64_t> mine;
    for (const auto member : kOfNode) mine.push_back(here.*member);
    mine.insert(mine.end(), here.ports.begin(), here.ports.end());
    // Only the first rank of a node has read them; the others send as many.
    const auto width = static_cast<std::size_t>(job.max(static_cast<std::int64_t>(mine.size())));
    mine.resize(width, -1);
    const auto nodes = job.gather<std::int64_t>(mine);
    PhaseCounts counts{job.gather<RankCounters>(std::span<const RankCounters>(&of_rank, 1)), {}};
    if (!job.is_root()) return counts;
    for (const auto& ranks_here : job.layout().rank_at()) {
        const auto* first = nodes.data() + static_cast<std::size_t>(ranks_here.front()) * width;
        NodeCounters& node = counts.nodes.emplace_back();
        for (const auto member : kOfNode) node.*member = *first++;
        node.ports.assign(first, first + width - kOfNode.size());
    }
    return counts;
}

CountedPhase::CountedPhase(const Job& job, const NodeCounterReader& nodes)
    : job_(job), nodes_(nodes), reads_node_(job.layout().local_index(job.rank()) == 0) {
    if (reads_node_) node_before_ = nodes_.read();
    job_.barrier();
    of_rank_ = read_usage();
}

void CountedPhase::end() {
    of_rank_ = difference(of_rank_, read_usage());
    if (reads_node_) accumulate(of_node_, node_before_, nodes_.read());
    job_.barrier();
}

} // namespace a2aperf
