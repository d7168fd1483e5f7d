// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic_matrix.hpp"

#include <doctest/doctest.h>

#include <string>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

namespace {

const std::string kMtx = "%%MatrixMarket matrix coordinate integer general\n";

std::vector<std::uint64_t> rows(const TrafficMatrix& matrix) {
    std::vector<std::uint64_t> weights;
    for (Rank from = 0; from < matrix.ranks(); ++from)
        for (Rank to = 0; to < matrix.ranks(); ++to) weights.push_back(matrix.weight(from, to));
    return weights;
}

using Weights = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("whole numbers are the weights; the diagonal counts for nothing") {
    CHECK(rows(parse_csv_matrix("7,1,2\n0,7,3\n4,5,7\n")) == Weights{0, 1, 2, 0, 0, 3, 4, 5, 0});
    CHECK(rows(parse_csv_matrix("# from, to\r\n\r\n 0 , 1\r\n2, 0 \r\n")) == Weights{0, 1, 2, 0});
}

TEST_CASE("other numbers keep their ratio, and none of them is lost") {
    const TrafficMatrix matrix = parse_csv_matrix("0,0.5,1\n0,0,0.25\n1e-300,0,0\n");
    CHECK(matrix.weight(0, 2) == std::uint64_t{1} << 40U);
    CHECK(matrix.weight(0, 1) == std::uint64_t{1} << 39U);
    CHECK(matrix.weight(1, 2) == std::uint64_t{1} << 38U);
    CHECK(matrix.weight(2, 0) == 1);
    CHECK(matrix.weight(1, 0) == 0);
    const TrafficMatrix huge = parse_csv_matrix("0,1e300\n5e299,0\n");
    CHECK(huge.weight(0, 1) == 2 * huge.weight(1, 0));
}

TEST_CASE("what a rank keeps scales nothing") {
    CHECK(rows(parse_csv_matrix("1e14,1,3\n2,1e14,9\n1,1,0\n")) == Weights{0, 1, 3, 2, 0, 9, 1, 1, 0});
    CHECK(rows(parse_csv_matrix("0.5,1\n2,0\n")) == Weights{0, 1, 2, 0});
    CHECK_THROWS_AS(parse_csv_matrix("0,1e-300\n2e-300,0\n"), UsageError);
}

TEST_CASE("Matrix Market: a row is a source, a column a destination") {
    CHECK(rows(parse_mtx(kMtx + "% made by hand\n3 3 3\n1 2 5\n3 1 4\n2 2 9\n")) ==
          Weights{0, 5, 0, 0, 0, 0, 4, 0, 0});
    CHECK(rows(parse_mtx("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n")) == Weights{0, 0, 1, 0});
    CHECK(rows(parse_mtx("%%MatrixMarket matrix coordinate integer symmetric\n3 3 1\n3 1 6\n")) ==
          Weights{0, 0, 6, 0, 0, 0, 6, 0, 0});
    CHECK(rows(parse_mtx("%%matrixmarket MATRIX array real general\n2 2\n0\n3\n8\n0\n")) == Weights{0, 8, 3, 0});
    CHECK(rows(parse_mtx("%%MatrixMarket matrix array integer symmetric\n2 2\n0\n3\n0\n")) == Weights{0, 3, 3, 0});
}

TEST_CASE("the same matrix has the same digest, another one another") {
    const std::uint64_t digest = parse_csv_matrix("0,1\n2,0\n").digest();
    CHECK(digest == parse_csv_matrix("0,1\n2,0\n").digest());
    CHECK(digest != parse_csv_matrix("0,2\n1,0\n").digest());
    CHECK(digest > 0);
    CHECK(digest < std::uint64_t{1} << 63U);
}

TEST_CASE("what is no matrix of bytes is told, with the line") {
    const auto refuses_csv = [](const std::string& text, const char* why) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(parse_csv_matrix(text), doctest::Contains(why), UsageError);
    };
    refuses_csv("", "a matrix of at least 2 x 2 numbers is expected");
    refuses_csv("1\n", "a matrix of at least 2 x 2 numbers is expected");
    refuses_csv("0,1,2\n1,0,2\n", "2 x 3 is not square");
    refuses_csv("0,1\n1,0\n2,2\n", "line 3: more rows than the 2 columns");
    refuses_csv("0,1\n1,0,5\n", "line 2: 3 columns, and 2 in the lines above");
    refuses_csv("0,1\n-4,0\n", "line 2: '-4' is below 0");
    refuses_csv("0,1\nx,0\n", "line 2: 'x' is not a number");
    refuses_csv("0,1\n1,\n", "line 2: '' is not a number");
    refuses_csv("0,inf\n1,0\n", "line 1: 'inf' is not a number");
    refuses_csv("0,nan\n1,0\n", "line 1: 'nan' is not a number");
    refuses_csv("0,1e400\n1,0\n", "line 1: '1e400' is too large or too small");
    refuses_csv("0,1 2\n1,0\n", "line 1: '1 2' is not a number");

    const auto refuses_mtx = [](const std::string& text, const char* why) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(parse_mtx(text), doctest::Contains(why), UsageError);
    };
    refuses_mtx("", "line 1: expected '%%MatrixMarket matrix coordinate integer general'");
    refuses_mtx("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 0\n", "line 1: expected");
    refuses_mtx("%%MatrixMarket matrix array pattern general\n2 2\n", "line 1: expected");
    refuses_mtx(kMtx, "it ends before its size");
    refuses_mtx(kMtx + "2 2\n", "line 2: expected rows, columns and entries");
    refuses_mtx(kMtx + "2 3 1\n1 2 1\n", "line 2: 2 x 3 is not square");
    refuses_mtx(kMtx + "1 1 0\n", "'1' is not a whole number from 2 to 1024");
    refuses_mtx(kMtx + "99999999999 2 0\n", "'99999999999' is not a whole number from 2 to 1024");
    refuses_mtx(kMtx + "2 2 1\n", "it ends after 0 of its 1 entry");
    refuses_mtx(kMtx + "2 2 1\n1 2 1\n2 1 1\n", "line 4: there are more than its 1 entry");
    refuses_mtx(kMtx + "2 2 1\n1 3 1\n", "line 3: '3' is not a whole number from 1 to 2");
    refuses_mtx(kMtx + "2 2 1\n0 1 1\n", "line 3: '0' is not a whole number from 1 to 2");
    refuses_mtx(kMtx + "2 2 1\n1 2\n", "line 3: expected 3 words");
    refuses_mtx(kMtx + "2 2 1\n1 2 -1\n", "line 3: '-1' is below 0");
    refuses_mtx(kMtx + "2 2 2\n1 2 1\n", "it ends after 1 of its 2 entries");
    refuses_mtx(kMtx + "2 2 1\n1 2 2.5\n", "line 3: '2.5' is not a whole number, and line 1 says integer");
    refuses_mtx("%%MatrixMarket matrix array integer general\n2 2\n0\n1\n0.5\n0\n",
                "line 5: '0.5' is not a whole number");
    refuses_mtx(kMtx + "2 2 2\n1 2 1\n1 2 1\n", "line 4: the entry 1 2 is given twice");
    refuses_mtx("%%MatrixMarket matrix array integer general\n2 2\n0\n1\n1\n", "it ends before all numbers");
    refuses_mtx("%%MatrixMarket matrix array integer general\n2 2\n0\n1\n1\n0\n0\n",
                "line 7: there are more numbers");
}
