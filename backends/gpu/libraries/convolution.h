// Convolutions as NVIDIA's library takes them.
#pragma once
#include "backends/gpu/libraries/epilogue.h"

namespace hlo::gpu {

/// A row of convolution_types.def.
struct ConvolutionTypes {
  ElementType operands, result;
  DotAlgorithm algorithm;
  ElementType sums;
  bool tensor_cores;
  int64_t apart;
};

/// An array: its batch, its features, and where in space; of the filter its own features first, then those
/// that it reads. All counts are of elements.
struct LibraryTensor {
  int64_t array = -1;  // number of the fusion's operand; -1: its result
  ElementType type = ElementType::F32;
  int64_t offset = 0;
  llvm::SmallVector<ViewDim, 5> dims;
};

/// Y = X * W: of an image X, a filter W and a response Y one is computed from the other two; then what is
/// done to it, step by step.
struct LibraryConvolution {
  enum class Direction : uint8_t { Forward, BackwardFilter, BackwardData };
  struct Dim {
    int64_t stride = 1, dilation = 1, before = 0, after = 0;
  };
  struct Step {
    EpilogueStep::Op op;    // Multiply, Add or Relu
    LibraryTensor operand;  // of these two
  };

  const ConvolutionTypes* types = nullptr;
  Direction direction = Direction::Forward;
  LibraryTensor image, filter, response;
  llvm::SmallVector<Dim, 3> dims;  // in space
  bool flipped = false;            // the filter is gone through from its end
  double alpha = 1;
  llvm::SmallVector<Step, 3> steps;

  [[nodiscard]] const LibraryTensor& result() const;
  /// That and all others.
  [[nodiscard]] llvm::SmallVector<const LibraryTensor*, 5> Tensors() const;
};

/// There is one convolution in it.
bool HasConvolution(const Instruction& fusion);
/// What a fusion computes as one convolution of the library. Declines, saying why, where it is none or where
/// it pays no call of a library.
Result<LibraryConvolution> ConvolutionOf(const Instruction& fusion);
/// A fusion that is none as a whole: the last of its instructions up to which it is one that is large enough
/// to be done apart from the rest. Null: there is none.
Instruction* ConvolutionApart(const Instruction& fusion);
/// Every figure of it; operands by their names.
std::string ToString(const LibraryConvolution& convolution, const Instruction& fusion);

}  // namespace hlo::gpu
