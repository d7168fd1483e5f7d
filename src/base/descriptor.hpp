// SPDX-License-Identifier: BSD-3-Clause
// A file or an end of a pipe that is open, closed at the end.
#pragma once

#include <unistd.h>

namespace a2aperf {

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { reset(); }
    void reset() {
        if (number_ >= 0) close(number_);
        number_ = -1;
    }
    int number() const { return number_; }

private:
    int number_; // below 0: none
};

} // namespace a2aperf
