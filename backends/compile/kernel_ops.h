// Which instructions are computed in kernels, and what an element costs there.
#pragma once
#include "backends/compile/machine.h"
#include "ir/module.h"

namespace hlo::compile {

/// Kernels have loops for it that are not worse than what else there is.
bool HasKernel(const Instruction& inst, const Machine& machine);
/// Kernels have loops for it, good or bad.
bool HasLoops(const Instruction& inst);
/// A dot or convolution that is the one of its kernel, which also has what is made of the results
/// (Machine::Products::with_results).
bool IsLargeProduct(const Instruction& inst, const Machine& machine);
/// Why an instruction for which nothing else is known has none, for --explain-codegen.
std::string WhyNoKernel(const Instruction& inst);
/// What an element of the result costs beyond what its operands cost, in the unit of
/// kernel::OpCost::operations.
int64_t CostPerElement(const Instruction& inst, const Machine& machine);
/// How many products an element of a dot or convolution is the sum of.
int64_t ContractedElements(const Instruction& product);
/// Which factors of a product go along a dimension of the result: both, or one.
enum class ProductDimension : uint8_t { Batch, Left, Right };
ProductDimension KindOfDimension(const Instruction& product, int64_t dimension);
/// How many elements one of the result is folded of, where floats make the order count; else 1.
int64_t ElementsInOrder(const Instruction& inst, const Machine& machine);
/// The array whose elements the loops of a kernel go over, if `inst` is its root: the result, or the update
/// of what is changed in place.
const Shape& IterationShape(const Instruction& inst);
/// A scan of rows, each by a block of threads, as the root of a kernel.
bool IsScanOfBlocks(const Instruction& inst, const Machine& machine);
/// As a root it has loops of its own kind and shares them with no other output.
bool HasOwnNest(const Instruction& inst);
/// A product of few complex numbers in double precision: the evaluator's sums of these are those of other
/// implementations to the last bit.
bool KeepsOrder(const Instruction& product);
/// A transpose for which kernels have tiles in registers, if they do little else.
bool MovesMinorDimension(const Instruction& inst, const Machine& machine);
/// A large transpose, neighbours in whose result are none in its operand, however short their lines are: what
/// threads read side by side is not.
bool IsReadAcross(const Instruction& inst, const Machine& machine);
/// Whether its lanes are elements that are folded, as these lie side by side in memory
/// (kernel::ChooseSchedule).
bool FoldsAlongMemory(const Instruction& inst, const Machine& machine);
/// A reduction or product, whatever its shape.
bool IsFold(const Instruction& inst);

}  // namespace hlo::compile
