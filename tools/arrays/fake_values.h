// Made-up array contents: generators, random values, values that respect constraints (tools.md §3.2).
#pragma once
#include <cstdint>

#include "ir/literal.h"

namespace hlo {

enum class ValueKind : uint8_t {
  Random,  // floats uniform [-0.1, 0.2) or over all magnitudes; integers their whole range; pred 0 or 1
  Edge,    // special values in turn: ±0, ±inf, NaN, subnormals, limits, ties
  Zeros,
  Ones,
  Constant,    // `a`
  Iota,        // the linear index, or that along `dimension`
  Uniform,     // [a, b); integers [a, b]
  LogUniform,  // between a and b, all magnitudes equally often
  Normal,      // mean a, standard deviation b
  DeviceId,    // ValueSeed::device
  Uninit,      // a fixed pattern
  Lowest,
  Highest,
  AllOnes,    // identities of maximum, minimum, and
  InRange,    // integers uniform in [low, high]
  IndexRows,  // rows of one integer per extent, row r in [0, extents); sorted and distinct as asked
  Distinct,   // a permutation of 0…n-1, for signed types of -n/2…
};

/// How the elements of one array are chosen.
struct ValueRule {
  ValueKind kind = ValueKind::Random;
  bool large_float_range = false;
  double a = 0, b = 0;
  int64_t dimension = -1;  // Iota; Distinct along one dimension: -1 over the whole array
  int64_t low = 0, high = 0;
  // IndexRows
  Dims extents;
  int64_t component_dimension = -1;  // the dimension along which a row's components lie; -1: rows have one
  bool sorted = false, distinct = false;
};

/// What an element depends on besides rule and linear index.
struct ValueSeed {
  uint64_t seed = 0;
  int64_t parameter = 0;
  int64_t leaf = 0;
  int64_t device = 0;
};

/// The value of `shape` (an array, or a tuple whose leaves count up from seed.leaf). Element i depends on
/// seed, parameter, leaf and i only.
Literal MakeValue(const Shape& shape, const ValueRule& rule, ValueSeed seed);

}  // namespace hlo
