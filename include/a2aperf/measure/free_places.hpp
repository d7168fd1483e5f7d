// SPDX-License-Identifier: BSD-3-Clause
// Places that are free, of so many at most: the one that became free last is taken first, as its memory is near.
#pragma once

#include <cstddef>
#include <vector>

namespace a2aperf {

class FreePlaces {
public:
    // Of a stream, before its first: as many as there will ever be.
    void reserve(std::size_t most) {
        places_.resize(most);
        most_ = most;
    }

    void put(int place) { places_[count_++] = place; } // not where all are free
    int next() const { return places_[count_ - 1]; }   // there is one
    void take() { --count_; }
    bool is_empty() const { return count_ == 0; }
    bool is_full() const { return count_ == most_; }
    std::size_t count() const { return count_; }

private:
    std::vector<int> places_;
    std::size_t count_ = 0;
    std::size_t most_ = 0; // what places_.size() works out anew each time
};

} // namespace a2aperf
