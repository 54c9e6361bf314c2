// What results should be, from --expected (tools.md §3.4).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/run/arguments.h"
#include "tools/run/values.h"

namespace hlo {

/// One array among the results: `index` into the root value.
struct OutputLeaf {
  ShapeIndex index;
  Shape shape;
  std::string name;  // the instruction that makes it, for --tolerance=%name
  [[nodiscard]] std::string Label() const { return index.empty() ? "output" : "output " + ToString(index); }
};
std::vector<OutputLeaf> OutputLeaves(const Module& module);
/// Whether the part of the result at `index` depends on a parameter. Calls count as a whole.
bool DependsOnParameters(const Module& module, ShapeIndex index);
/// The part of a value at an index.
const Literal& PartAt(const Literal& value, const ShapeIndex& index);

/// Expected values by output and device.
class ExpectedSource {
 public:
  /// Reads the values and assigns them to outputs: archives by member name (`out0_1_r0_p1`), others in
  /// order; `(ignored)` skips one. `root`: the shape the outputs are leaves of. `narrow`: wide arrays may
  /// stand for narrow floats. Errors: input-…, usage-option.
  Status Read(llvm::ArrayRef<std::string> values, const Shape& root, llvm::ArrayRef<OutputLeaf> leaves,
              DeviceCount devices, bool narrow);
  /// Nothing if the output is ignored.
  Result<std::optional<Literal>> For(size_t leaf, int64_t device) const;
  /// Whether someone wrote it down as a text, perhaps with few digits.
  [[nodiscard]] bool Typed(size_t leaf) const;

 private:
  struct Entry {
    const Value* value = nullptr;
    ShapeIndex part;  // within a tuple literal
    std::optional<int64_t> replica, partition;
  };
  Status AddArchive(const ArrayFile& file, llvm::ArrayRef<OutputLeaf> leaves);
  Status AddWhole(const Value& value, llvm::ArrayRef<OutputLeaf> leaves, size_t& next);

  std::vector<std::unique_ptr<Value>> values_;
  std::vector<OutputLeaf> leaves_;
  std::vector<std::vector<Entry>> entries_;  // by leaf; empty: ignored
  DeviceCount devices_;
};

}  // namespace hlo
