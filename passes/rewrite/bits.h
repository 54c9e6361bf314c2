// Floats as integers, and random bits from counters, as formulas.
#pragma once
#include <array>

#include "passes/rewrite/expr.h"

namespace hlo {

/// Integers whose order is the total order of the floats `x` (ops-elementwise §8).
Expr TotalOrderKey(const Expr& x);
/// The keys of two arrays of one shape and type, constants shared.
std::array<Expr, 2> TotalOrderKeys(const Expr& x, const Expr& y);
/// The unsigned integer type of `bits` bits; nothing if there is none.
std::optional<ElementType> UnsignedOfWidth(int bits);

/// Blocks i = 0 … count-1 of ThreeFry-2x32 with a u64[] key, of the u64 counter `first` + i (ops-structured
/// §8.3): their two words, u32[count] each.
std::array<Expr, 2> ThreeFryBlocks(const Expr& key, const Expr& first, int64_t count);
/// Blocks of Philox-4x32 with a u64[] key, of the 128-bit counter (low, high) + i: four times u32[count].
std::array<Expr, 4> PhiloxBlocks(const Expr& key, const Expr& low, const Expr& high, int64_t count);
/// The first n words of the stream the blocks make, u32[n]; of pairs of words, u64[n], the low one first.
Expr PhiloxWords32(const std::array<Expr, 4>& blocks, int64_t n);
Expr PhiloxWords64(const std::array<Expr, 4>& blocks, int64_t n);
/// A 128-bit counter (low, high) plus `delta` < 2^63.
std::array<Expr, 2> AddToCounter(const Expr& low, const Expr& high, int64_t delta);

}  // namespace hlo
