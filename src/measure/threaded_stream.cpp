// SPDX-License-Identifier: BSD-3-Clause
#include "threaded_stream.hpp"

#include "a2aperf/fabric/locality.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/plan/stream_plan.hpp"

namespace a2aperf {
namespace {

// A core for each end: of those of the rank, or, where all ranks of the node may run on all of it, of its share.
// None where there are not enough: then the system places the threads.
std::vector<int> cpus_for_ends(const Job& job) {
    const std::vector<int> cpus = cpus_of_cores();
    const bool is_bound = static_cast<int>(std::ssize(cpus)) < this_locality().machine_cores;
    const auto node = static_cast<std::size_t>(job.layout().node_of(job.rank()));
    const int first = is_bound ? 0 : 2 * job.layout().local_index(job.rank());
    const int needed = is_bound ? 2 : 2 * job.layout().ranks_on_node()[node];
    if (std::ssize(cpus) < needed) return {};
    return {cpus.begin() + first, cpus.begin() + first + 2};
}

} // namespace

std::unique_ptr<Flow> make_threaded_stream(const EngineParts& parts, const StreamSettings& settings) {
    // The flow's end is in this thread.
    const PinEnd pin = [cpus = cpus_for_ends(parts.job), kept = std::make_shared<KeptAffinity>()](int end) {
        if (!cpus.empty()) pin_thread(cpus[static_cast<std::size_t>(end)]);
    };
    Channel& sending = *parts.channels[0];
    Channel& receiving = *parts.channels[1];
    const bool gives_all = sending.endpoint().completions() == Completions::all;
    if (stream_of(parts.point).asks() || !(gives_all || settings.injects))
        return AskingModes::make<ThreadedStream>(parts.point.mode, parts.job, sending, receiving,
                                                 parts.point.message_size, settings, parts.deadline, pin);
    return StreamModes::make<ThreadedStream>(parts.point.mode, parts.job, sending, receiving,
                                             parts.point.message_size, settings, parts.deadline, pin);
}

} // namespace a2aperf
