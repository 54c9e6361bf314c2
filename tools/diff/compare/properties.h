// Properties of instructions by themselves: operands, called computations and control dependencies aside.
#pragma once
#include <vector>

#include "tools/diff/compare/module_diff.h"

namespace hlo {

/// Whether the options leave this attribute out of the comparison.
bool IsIgnored(const FieldInfo& field, const DiffOptions& options);
/// Attributes that do not say what is computed: layouts, precision, hints to schedulers and runtimes.
bool IsAnnotation(const FieldInfo& field);

/// Whether shapes are the same as far as they are looked at.
bool SameShapes(const Shape& a, const Shape& b, const DiffOptions& options);

/// The properties that differ, in the order of printing, appended to `changes`; null: only whether any does.
/// False if something differs. The opcodes may differ, too.
bool CompareProperties(const Instruction& left, const Instruction& right, const DiffOptions& options,
                       std::vector<PropertyChange>* changes);

}  // namespace hlo
