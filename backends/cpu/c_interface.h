// What a function of C that is made of a program takes and gives, and where the program's buffers lie then.
#pragma once
#include <string>
#include <vector>

#include "backends/cpu/program.h"
#include "backends/llvm/emit_entry.h"

namespace hlo::cpu {

/// An array that the function takes or gives.
struct CArray {
  std::string name;  // of the parameter
  int64_t parameter = -1;
  ShapeIndex index;
  Shape shape;
  Slice slice;
  int64_t argument = -1;  // results: the argument that is written over with it

  [[nodiscard]] int64_t bytes() const { return std::max<int64_t>(slice.size, 0); }
};

/// Lays a program's buffers into what the caller of a function of C hands over.
class CInterface {
 public:
  /// `program` outlives it and what it makes.
  explicit CInterface(const Program& program);

  [[nodiscard]] llvm::ArrayRef<CArray> arguments() const { return arguments_; }
  [[nodiscard]] llvm::ArrayRef<CArray> results() const { return results_; }
  [[nodiscard]] int64_t temp_bytes() const { return temp_bytes_; }
  [[nodiscard]] std::vector<Slice> ResultSlices() const;
  /// `slots`: of each of the routines that do the work. Once.
  codegen::EntryPoint EntryFor(llvm::ArrayRef<std::vector<Slice>> slots);

 private:
  /// By buffer: the numbers of the arrays that lie there.
  [[nodiscard]] std::vector<llvm::SmallVector<size_t, 1>> ByBuffer(llvm::ArrayRef<CArray> arrays) const;
  void PlaceBuffers();
  int64_t Reserve(int64_t bytes);
  [[nodiscard]] codegen::EntryPoint::Place PlaceOf(const Slice& slice) const;

  const Program& program_;
  std::vector<CArray> arguments_, results_;
  std::vector<codegen::EntryPoint::Place> places_;  // by buffer
  int64_t temp_bytes_;
  codegen::EntryPoint entry_;
};

}  // namespace hlo::cpu
