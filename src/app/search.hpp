// SPDX-License-Identifier: BSD-3-Clause
// --search: the fastest setting of an all-to-all at each message size, by successive halving, and how it compares
// with the default in alternating blocks of ops. Rank 0 decides what goes on.
#pragma once

namespace a2aperf {

class Launch;

// The plan is that of plan_search(). Collective.
void search_all(Launch& launch);

} // namespace a2aperf
