// Strategies of --reduce that change shapes, types, layouts and names.
#pragma once
#include "tools/reduce/reduce.h"

namespace hlo {

/// Each size of a dimension made smaller everywhere; all arrays made scalars.
std::vector<ReduceEdit> SmallerShapes(const Module& module);
/// Gives declared shapes (parameters, constants, reshapes, …) new ones and infers all others again. False if
/// a rule refuses what comes out, or `adapt`, which sees every instruction with its old shape, its operands
/// having new ones.
bool ChangeShapes(Module& module, llvm::function_ref<Shape(const Shape&)> map,
                  llvm::function_ref<bool(Instruction&)> adapt);
/// All dimensions of size 1 gone from all arrays.
bool SqueezeRanks(Module& module);
/// Each element type that is neither f32, s32 nor pred replaced by the nearest of these.
std::vector<ReduceEdit> SimplerTypes(const Module& module);
/// Default layouts everywhere.
bool DefaultLayouts(Module& module);
/// Computations `cN`, instructions `opcode.N`.
bool ShortNames(Module& module);

}  // namespace hlo
