// Modules with element types and sizes exchanged: one rule case becomes cases for every type.
#pragma once
#include <memory>

#include "ir/module.h"

namespace hlo::testing {

/// A copy of the module whose arrays of type `from` have type `to`; the parts of complex types follow. With
/// `length` the arrays of the entry, which must all have the same sizes, become f32[length] and the like; a
/// module of scalars becomes one of arrays. Constants are converted, saturating, and repeated. Null if that
/// is not possible or not valid.
std::unique_ptr<Module> Retyped(const Module& module, ElementType from, ElementType to, int64_t length = 0);

/// The type to exchange: that of the first array parameter that is not pred, or else of the first
/// instruction; Pred if there is no other.
ElementType MainType(const Module& module);

}  // namespace hlo::testing
