// SPDX-License-Identifier: BSD-3-Clause
#include "threaded_stream.hpp"

#include "a2aperf/fabric/locality.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/measure/thread_cpus.hpp"
#include "a2aperf/plan/stream_plan.hpp"

namespace a2aperf {

std::unique_ptr<Flow> make_threaded_stream(const EngineParts& parts, const StreamSettings& settings) {
    // The flow's end is in this thread.
    const PinEnd pin = [cpus = cpus_for_threads(parts.cores, 2), kept = std::make_shared<KeptAffinity>()](int end) {
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
