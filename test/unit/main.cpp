// SPDX-License-Identifier: BSD-3-Clause
// The main function of every unit test program.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
