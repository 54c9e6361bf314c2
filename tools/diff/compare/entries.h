// Parts of a comparison, made from a matching.
#pragma once
#include "tools/diff/compare/matching.h"

namespace hlo {

/// Everything that differs between two matched instructions: properties, operands, called computations,
/// control dependencies. In the order of printing.
std::vector<PropertyChange> CompareMatched(const DiffMatching& matching, DiffId l, DiffId r);

/// What differs between the headers of the modules and the computations as wholes.
std::vector<PropertyChange> CompareHeaders(const DiffMatching& matching);

/// What it means that an instruction stands in another computation: `fused`, `hoisted`, …
std::string MoveNote(const Computation& from, const Computation& to);

/// Where both modules are scheduled: the fewest instructions of a pair of computations whose moves explain
/// the order of the right one; left ids.
std::vector<DiffId> FindScheduleMoves(const DiffMatching& matching, DiffId cl, DiffId cr);

/// Numbers changes that are the same in several places.
void GroupEntries(ModuleDiff& diff);

}  // namespace hlo
