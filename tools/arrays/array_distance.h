// How large arrays are, and how far apart: one number for the whole, one for the worst.
#pragma once
#include <vector>

#include "ir/literal.h"

namespace hlo {

/// Of numbers: their root mean square, and the largest magnitude.
struct Extent {
  double mean = 0, largest = 0;
};
/// Of the finite elements of an array; both parts of complex ones. Zero for integers.
Extent ExtentOf(const Literal& array);

/// Of two arrays of compatible shapes: of the differences where both are finite, and how many numbers are not
/// the same elsewhere (infinities and NaN on one side, all integers).
struct Distance {
  Extent size;
  int64_t others = 0;
};
Distance DistanceOf(const Literal& actual, const Literal& expected);

/// Raises `most`, one for each number of the arrays or empty, to how far apart these are: infinitely where
/// they are integers and differ, or one is not finite.
void RaiseToDistances(const Literal& actual, const Literal& expected, std::vector<double>& most);

/// Whether it has elements, floats, and every one has a NaN.
bool IsAllNan(const Literal& array);

}  // namespace hlo
