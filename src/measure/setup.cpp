// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/setup.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/adapters.hpp"
#include "a2aperf/measure/channels.hpp"
#include "a2aperf/measure/host_facts.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/stream_words.hpp"
#include "a2aperf/plan/channel_part.hpp"

namespace a2aperf {
namespace {

constexpr Bytes kUsualBuffers = Bytes{2} << 30; // of a node, without a limit of the user's

// A flag must not be seen before its message. nothing = there is a way.
std::optional<std::string> flag_trouble(const Offer& offer, Bytes message_size) {
    const std::string name = offer.provider();
    const Bytes ordered = offer.ordered_write();
    if (message_size <= ordered || find_provider(name).tells_delivery) return std::nullopt;
    return fmt::format("{} orders {}, and is not known to tell when a write is delivered: a flag could come before "
                       "its message",
                       name, ordered == 0 ? "no writes" : fmt::format("writes of up to {} B only", ordered));
}

// What finds no room may be told as an error, and a duration needs all of them.
std::optional<std::string> duration_trouble(const Offer& offer, const Point& point) {
    const std::string name = offer.provider();
    const Provider& provider = find_provider(name);
    if (provider.keeps_own_messages &&
        std::ranges::any_of(point.flow->who, [](const StreamPair& pair) { return pair.from == pair.to; }))
        return fmt::format("{} keeps messages of a process to itself: they would not pass the adapter", name);
    if (!posts_receives(find_mode(point.mode).arrival) || !provider.bounds_receives) return std::nullopt;
    const int needed = point.flow->room(point).receives;
    if (static_cast<std::size_t>(needed) <= offer.receive_queue()) return std::nullopt;
    return fmt::format("{} receives are posted at a time, of {}, and {} has room for {}", needed,
                       point.flow->posted(), name, offer.receive_queue());
}

// What can be under way at once has to find room in a queue.
std::optional<std::string> chunks_trouble(const Offer& offer, const Point& point, int ranks) {
    if (!point.is_cut()) return std::nullopt;
    const Provider& provider = find_provider(offer.provider());
    const Arrival arrival = find_mode(point.mode).arrival;
    if (!posts_receives(arrival) || !provider.bounds_receives) return std::nullopt;
    // Verification posts all that an endpoint takes at once, and receives for strays: one, or as many again where
    // none takes from anybody.
    const auto channels = static_cast<Bytes>(point.channels);
    const Bytes chunks = point.chunks() * ((static_cast<Bytes>(ranks - 1) + channels - 1) / channels);
    const bool is_of_each = arrival == Arrival::receive && provider.needs_a_source();
    const Bytes needed = is_of_each ? 2 * chunks : chunks + 1;
    if (needed <= offer.receive_queue()) return std::nullopt;
    return fmt::format("{} receives are posted to verify it, and {} has room for {}", needed, offer.provider(),
                       offer.receive_queue());
}

// Of the endpoints over which the messages of an op are dealt.
std::optional<std::string> endpoints_trouble(const ProviderChoice& choice, const Point& point,
                                             const Layout& layout) {
    const Offer& offer = choice.offer;
    const int channels = point.channels;
    if (channels == 1) return std::nullopt;
    const auto& on_node = layout.ranks_on_node();
    const int ranks = *std::max_element(on_node.begin(), on_node.end());
    const std::size_t most = offer.endpoints();
    // On the adapter with the most of them, where they are dealt over several.
    const int adapters = std::max(1, static_cast<int>(choice.adapters.size()));
    std::vector<std::size_t> on_adapter(static_cast<std::size_t>(adapters), 0);
    for (int rank = 0; rank < ranks; ++rank)
        for (int i = 0; i < channels; ++i)
            ++on_adapter[static_cast<std::size_t>(ChannelPart{i, channels}.adapter(adapters, rank))];
    if (most == 0 || std::ranges::max(on_adapter) <= most) return std::nullopt;
    return fmt::format("{} ranks on a node with {} endpoints each{} need more than the {} that {} has", ranks,
                       channels, adapters == 1 ? std::string() : fmt::format(" on {} adapters", adapters), most,
                       offer.domain());
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

} // namespace

NodeMemory memory_of_node(std::span<const MemoryKind* const> kinds) {
    NodeMemory least = kinds.front()->of_node();
    for (const MemoryKind* kind : kinds.subspan(1)) {
        const NodeMemory memory = kind->of_node();
        least = {std::min(least.available, memory.available), std::min(least.total, memory.total)};
    }
    return least;
}

std::map<std::string, std::string> lacking_memories(const Job& job, std::span<const std::string> kinds) {
    std::map<std::string, std::string> lacking;
    for (const std::string& kind : kinds) {
        const auto of_ranks = job.all_gather_text(find_memory(kind).lacking());
        const auto found = std::ranges::find_if(of_ranks, [](const std::string& why) { return !why.empty(); });
        if (found == of_ranks.end()) continue;
        const auto rank = static_cast<Rank>(found - of_ranks.begin());
        lacking[kind] = fmt::format("{} has no memory of the kind {}: {}", job.host(rank), kind, *found);
    }
    return lacking;
}

MemoryBudget memory_budget(const Job& job, std::span<const MemoryKind* const> kinds, std::optional<Bytes> limit,
                           std::span<const Bytes> sizes, Bytes samples, Bytes channels) {
    const NodeMemory memory = memory_of_node(kinds);
    const auto total = static_cast<Bytes>(job.min(static_cast<std::int64_t>(memory.total)));
    const auto available = static_cast<Bytes>(job.min(static_cast<std::int64_t>(memory.available)));
    if (limit && *limit > total)
        throw UsageError(
            fmt::format("--memory-limit {} is more than a node has ({}): leave it out for half of the free "
                        "memory",
                        format_bytes(*limit), format_bytes(total)));
    const auto& on_node = job.layout().ranks_on_node();
    const auto most = static_cast<Bytes>(*std::max_element(on_node.begin(), on_node.end()));
    const Bytes per_node = limit.value_or(available / 2);
    const Bytes messages = beside_samples(per_node, samples);
    MemoryBudget budget = limit ? budget_of(messages, most, sizes, kinds.size() * channels)
                                : usual_budget(messages, most, sizes, kinds.size() * channels);
    budget.per_node = per_node;
    return budget;
}

Bytes beside_samples(Bytes per_node, Bytes samples) {
    if (samples < per_node) return per_node - samples;
    throw UsageError(
        fmt::format("the samples of one point can take {} on rank 0, and --memory-limit leaves {}: keep "
                    "fewer (--max-samples)",
                    format_bytes(samples), format_bytes(per_node)));
}

// Behind the receive buffer there is room for a message that should not come, of the largest size that fits three
// times: in both buffers and there.
MemoryBudget budget_of(Bytes per_node, Bytes ranks_per_node, std::span<const Bytes> sizes, Bytes kinds) {
    const Bytes per_rank = per_node / ranks_per_node / kinds;
    const Bytes largest = per_rank / 3;
    Bytes spare = 0;
    for (const Bytes size : sizes)
        if (size <= largest) spare = std::max(spare, size);
    const Bytes per_buffer = (per_rank - spare) / 2;
    return {.per_node = per_node, .per_buffer = per_buffer, .largest = largest, .ample = per_buffer};
}

MemoryBudget usual_budget(Bytes per_node, Bytes ranks_per_node, std::span<const Bytes> sizes, Bytes kinds) {
    MemoryBudget budget = budget_of(per_node, ranks_per_node, sizes, kinds);
    const Bytes shared = std::min(per_node, kUsualBuffers);
    budget.ample = budget_of(shared, ranks_per_node, sizes, kinds).per_buffer;
    return budget;
}

namespace {

bool has_place_per_peer(const Point& point) {
    return point.is_baseline() || std::ranges::any_of(point.by_modes(), [](const Point& one) {
               return find_mode(one.mode).receive_space == ReceiveSpace::per_peer;
           });
}

Bytes buffer_of(const Point& point, const MemoryBudget& budget, int ranks) {
    const Bytes all = point.buffer_bytes(ranks);
    if (point.has_own_places() || point.is_duration() || has_place_per_peer(point)) return all;
    return std::min(all, std::max({budget.ample, point.largest_message(), point.place_bytes()}));
}

// Of points that have them.
std::optional<std::string> own_places_skip_reason(const Point& point, const MemoryBudget& budget, int ranks) {
    const Bytes needed = point.buffer_bytes(ranks);
    if (needed > budget.per_buffer)
        return fmt::format("the messages of one rank need {} in each direction and --memory-limit leaves {}",
                           format_bytes(needed), format_bytes(budget.per_buffer));
    if (point.largest_of_op() <= budget.largest) return std::nullopt;
    return fmt::format("a message of {} needs room in both directions and once more, and --memory-limit leaves {}",
                       format_bytes(point.largest_of_op()), format_bytes(budget.largest));
}

// Of one mode that a point's messages go by.
std::optional<std::string> mode_trouble(const Point& point, const ProviderChoice& choice, const Layout& layout) {
    const Offer& offer = choice.offer;
    const ModeEntry& mode = find_mode(point.mode);
    if (const auto refused = choice.refused_modes.find(point.mode); refused != choice.refused_modes.end())
        return refused->second;
    if (const Bytes most = offer.largest_message(); !point.is_cut() && point.largest_message() > most)
        return fmt::format("above the largest message of {}, {} B", offer.provider(), most);
    if (point.forwarding && mode.arrival != Arrival::receive)
        return fmt::format("node-aware forwards by receives that take one rank's message each, and {} has none",
                           point.mode);
    if (mode.arrival == Arrival::flag)
        if (auto why = flag_trouble(offer, point.largest_transfer())) return why;
    if (auto why = chunks_trouble(offer, point, layout.ranks())) return why;
    if (point.is_duration())
        if (auto why = duration_trouble(offer, point)) return why;
    const auto trouble = find_provider(offer.provider()).unexpected_trouble;
    const bool is_late = point.post == Post::inside || point.forwarding != nullptr;
    const bool may_be_unexpected = is_late && posts_receives(mode.arrival);
    if (trouble != nullptr && may_be_unexpected) return trouble(point.largest_transfer(), offer.inject_size());
    return std::nullopt;
}

} // namespace

std::optional<std::string> memory_skip_reason(const Point& point, const MemoryBudget& budget, int ranks) {
    if (point.is_duration()) {
        // The room behind the receive buffer is that of a message of the point's size, see budget_of().
        const Bytes larger = point.other_size() > point.message_size ? point.other_size() : 0;
        if (const Bytes needed = point.flow->bytes(point) + larger; needed > budget.per_buffer)
            return fmt::format("{} need {} in each direction and --memory-limit leaves {}",
                               point.flow->in_buffers(point), format_bytes(needed),
                               format_bytes(budget.per_buffer));
    }
    if (point.has_own_places()) return own_places_skip_reason(point, budget, ranks);
    const Bytes all = point.place_bytes() * static_cast<Bytes>(ranks);
    const bool needs_all = has_place_per_peer(point) && point.messages_per_rank(ranks) > 1;
    const Bytes needed = needs_all ? all : point.place_bytes();
    const Bytes room = needs_all ? budget.per_buffer : budget.largest;
    if (needed <= room) return std::nullopt;
    return fmt::format("{} needs {}{} of receive space and --memory-limit leaves {}",
                       point.is_baseline() ? "MPI_Alltoall" : point.mode, needs_all ? "R x B = " : "",
                       format_bytes(needed), format_bytes(room));
}

std::optional<std::string> fabric_skip_reason(const Point& point, const ProviderChoice& choice,
                                              const Layout& layout) {
    const Offer& offer = choice.offer;
    if (point.is_baseline()) return std::nullopt;
    if (auto why = channels_trouble(offer.provider(), point.channels)) return why;
    if (point.queues == Queues::one && !choice.one_queue_trouble.empty()) return choice.one_queue_trouble;
    if (!point.is_duration())
        if (auto why = endpoints_trouble(choice, point, layout)) return why;
    for (const Point& of_mode : point.by_modes())
        if (auto why = mode_trouble(of_mode, choice, layout)) return why;
    return std::nullopt;
}

int most_threads(const Plan& plan) {
    int most = 1;
    for (const Point& point : plan.points)
        if (!point.is_skipped() && point.is_duration()) most = std::max(most, point.flow->threads(point));
    return most;
}

// A baseline takes those of its partner.
ChannelCounts channel_counts(const Plan& plan) {
    ChannelCounts counts;
    for (const Point& point : plan.points)
        if (!point.is_skipped() && !point.is_baseline()) counts.hold(point.channels, point.queues);
    if (counts.all() == 0) counts.own = 1;
    return counts;
}

int most_channels(const Plan& plan) {
    return channel_counts(plan).all();
}

Bytes largest_message(const Plan& plan) {
    Bytes largest = 0;
    for (const Point& point : plan.points)
        if (!point.is_skipped()) largest = std::max(largest, point.largest_message());
    return largest;
}

Bytes buffer_bytes(const Plan& plan, const MemoryBudget& budget, int ranks) {
    Bytes most = 0;
    for (const Point& point : plan.points)
        if (!point.is_skipped()) most = std::max(most, buffer_of(point, budget, ranks));
    return std::min(most, budget.per_buffer);
}

std::string usual_sharing(const Plan& plan, const MemoryBudget& budget, int ranks) {
    MemoryBudget all = budget;
    all.ample = budget.per_buffer;
    const Bytes buffer = buffer_bytes(plan, budget, ranks);
    if (buffer == buffer_bytes(plan, all, ranks)) return {};
    Bytes largest = 0; // of those that may share
    for (const Point& point : plan.points)
        if (!point.is_skipped() && !point.forwarding) largest = std::max(largest, point.largest_message());
    const auto peers = static_cast<Bytes>(ranks) - 1;
    const Bytes places = buffer / largest;
    if (places >= peers) return {};
    return fmt::format(
        "the {} messages of {} B that a rank has at a time share {}, as no --memory-limit says how much "
        "memory a node may use",
        peers, largest, counted(places, "place"));
}

std::size_t queue_entries(const Plan& plan, int ranks) {
    std::size_t most = 0;
    for (const Point& point : plan.points) {
        if (point.is_skipped()) continue;
        if (point.is_cut()) most = std::max(most, 2 * point.chunks() * static_cast<std::size_t>(ranks));
        if (!point.is_duration()) continue;
        const FlowRoom room = point.flow->room(point);
        most = std::max(most, static_cast<std::size_t>(room.receives + room.sends));
    }
    return most;
}

Completions completions(const Plan& plan) {
    const bool is_selective = std::ranges::any_of(plan.points, [](const Point& point) {
        return !point.is_skipped() && point.is_duration() && point.flow->leaves_completions_out();
    });
    return is_selective ? Completions::asked : Completions::all;
}

std::size_t flag_words(const Plan& plan, int ranks) {
    std::size_t most = 0;
    for (const Point& point : plan.points) {
        if (point.is_skipped() || point.is_baseline()) continue;
        for (const Point& of_mode : point.by_modes()) {
            const Arrival arrival = find_mode(of_mode.mode).arrival;
            if (arrival == Arrival::flag) most = std::max(most, point.chunks() * static_cast<std::size_t>(ranks));
            if (point.is_duration() && tells_by_words(arrival))
                most = std::max(most, StreamWords::count(ranks, point.flow->room(of_mode).messages));
        }
    }
    return most;
}

bool mpi_uses_libfabric() {
    const std::string pml = variable("OMPI_MCA_pml");
    const std::string btl = variable("OMPI_MCA_btl");
    const bool is_off_fabric =
        (pml == "ob1" || pml == "ucx") && !btl.empty() && btl.find("ofi") == std::string::npos;
    return !is_off_fabric;
}

namespace {

// What Open MPI's settings choose between the ranks; empty where they leave it to Open MPI.
std::string network_of_mpi(bool spans_hosts) {
    const std::string pml = variable("OMPI_MCA_pml");
    const std::string btl = variable("OMPI_MCA_btl");
    const auto has = [&](std::string_view name) { return btl.find(name) != std::string::npos; };
    if (pml == "cm")
        for (const Provider& provider : known_providers())
            if (provider_matches(variable("OMPI_MCA_mtl_ofi_provider_include"), provider.name))
                return std::string(provider.network);
    if (pml != "ob1" || btl.empty() || btl.front() == '^') return {};
    const bool has_memory = has("vader") || has("sm");
    if (has_memory && !spans_hosts) return "shared memory";
    if (has("tcp")) return has_memory ? "shared memory within a node, TCP between" : "TCP";
    return {};
}

} // namespace

std::string baseline_transport(std::string_view provider, bool spans_hosts) {
    std::vector<std::string> words;
    for (const char* name :
         {"OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_mtl_ofi_provider_include", "OMPI_MCA_btl",
          "OMPI_MCA_btl_vader_single_copy_mechanism", "OMPI_MCA_btl_sm_single_copy_mechanism", "UCX_TLS"})
        if (const auto value = variable(name); !value.empty()) words.push_back(fmt::format("{}={}", name, value));
    const std::string settings = words.empty() ? "no settings" : fmt::format("{}", fmt::join(words, " "));
    const std::string network = network_of_mpi(spans_hosts);
    const std::string_view ours = find_provider(provider).network;
    if (network.empty()) return fmt::format("MPI's own choice ({})", settings);
    if (network == ours) return fmt::format("{} ({})", network, settings);
    return fmt::format("{}, a different network from {}'s {} ({})", network, provider, ours, settings);
}

std::vector<std::string> agree_on_port_names(const Job& job, const std::vector<NicFacts>& adapters) {
    std::string mine;
    if (job.layout().local_index(job.rank()) == 0)
        for (const NicFacts& nic : adapters)
            for (const auto& [name, path] : port_counter_paths(nic)) mine += name + "\n";
    const auto texts = job.gather_text(mine);
    std::string all;
    if (job.is_root()) {
        std::set<std::string> names;
        for (const auto& text : texts)
            for (auto& name : split(text, '\n')) names.insert(std::move(name));
        all = fmt::format("{}", fmt::join(names, "\n"));
    }
    job.broadcast_text(all);
    return split(all, '\n');
}

void collect_facts(const Job& job, const ProviderChoice& choice, Provenance& provenance) {
    const Layout& layout = job.layout();
    std::string mine;
    // Those of a node by one of its ranks, for they look at each process here; rank 0 needs the names.
    const bool is_first = layout.local_index(job.rank()) == 0;
    std::vector<std::pair<std::string, std::string>> facts;
    if (is_first || job.is_root()) facts = node_facts(choice.nic, choice.here.machine_cores);
    if (is_first)
        for (const auto& [name, value] : facts) mine += value + "\n";
    const auto of_ranks = job.gather_text(mine);
    const auto bindings = job.gather_text(choice.here.cpu_list);
    std::vector<std::string> names, distances_here;
    for (const NicFacts& nic : adapters_of(choice.used())) {
        names.push_back(nic.name.empty() ? choice.offer.domain() : nic.name);
        const auto distance = numa_distance(choice.here.numa_nodes, nic.numa_node);
        distances_here.push_back(distance ? std::to_string(*distance) : "");
    }
    const auto nics = job.gather_text(fmt::format("{}", fmt::join(names, ",")));
    const auto distances = job.gather_text(fmt::format("{}", fmt::join(distances_here, ",")));
    if (!job.is_root()) return;

    for (const auto& ranks_here : layout.rank_at()) {
        provenance.nodes.push_back(job.host(ranks_here.front()));
        const auto values = split(of_ranks[static_cast<std::size_t>(ranks_here.front())], '\n');
        for (std::size_t i = 0; i < facts.size(); ++i)
            provenance.node_facts[facts[i].first].push_back(i < values.size() ? values[i] : "");
    }
    std::erase_if(provenance.node_facts, [](const auto& fact) {
        return is_fact_of_rdma(fact.first) && std::ranges::all_of(fact.second, &std::string::empty);
    });
    provenance.node_of_rank = layout.node_of_rank();
    provenance.rank_order = job.world_ranks();
    provenance.rank_facts = {{"binding", bindings}, {"nic", nics}, {"nic_distance", distances}};
}

} // namespace a2aperf
