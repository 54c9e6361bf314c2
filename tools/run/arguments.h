// The arguments of a run, from --input, --inputs and --fake (tools.md §3.2).
#pragma once
#include <vector>

#include "ir/module.h"
#include "tools/arrays/fake_arguments.h"
#include "tools/run/options.h"
#include "tools/run/sharding.h"
#include "tools/run/values.h"

namespace hlo {

/// How many simulated devices there are.
struct DeviceCount {
  int64_t replicas = 1, partitions = 1;
  [[nodiscard]] int64_t total() const { return replicas * partitions; }
};

/// `_r0_p1`, or nothing for a single device.
std::string DeviceSuffix(const DeviceCount& devices, int64_t device, bool per_device);

/// Arguments by device and parameter.
using Arguments = std::vector<std::vector<Literal>>;

/// Reads the options once and makes the arguments of every iteration.
/// True if the value of an --input is for some devices only.
bool NamesDevice(const std::string& input);

class ArgumentSource {
 public:
  ArgumentSource(const RunOptions& options, const Module& module, DeviceCount devices)
      : options_(options), module_(module), devices_(devices) {}
  /// The arguments that came with the module, unless --force-fake-data; before Read().
  void SetStored(llvm::ArrayRef<Literal> stored) { stored_ = stored; }
  /// Reads --input and --inputs and checks them against the parameters. Errors: usage-option, usage-name,
  /// input-….
  Status Read();
  /// The arguments for iteration `iteration` (seed + iteration).
  Result<Arguments> Make(int64_t iteration) const;
  [[nodiscard]] uint64_t seed() const { return seed_; }
  /// Parameter `parameter` of device `device` as it was before it was cut.
  [[nodiscard]] Literal Uncut(const Arguments& arguments, int64_t device, size_t parameter) const;

 private:
  /// A value for one parameter or a leaf of it, on some devices.
  struct Assignment {
    const Value* value = nullptr;
    int64_t parameter = 0;
    ShapeIndex index;
    std::optional<int64_t> replica, partition, device;
    [[nodiscard]] bool Covers(int64_t r, int64_t p, int64_t d) const {
      return (!replica || *replica == r) && (!partition || *partition == p) && (!device || *device == d);
    }
  };
  /// Of an array that is cut for the partitions, the part of some devices.
  [[nodiscard]] bool IsPart(const Assignment& a) const;
  /// Puts what was given for the device into its part of an argument.
  Status SetParts(Literal& value, int64_t parameter, int64_t device, uint64_t seed) const;
  /// The next place for values without selector.
  struct Cursor {
    int64_t parameter = 0;
    size_t leaf = 0;
  };

  Status AddStored();
  Status AddInput(llvm::StringRef text, Cursor& cursor);
  Status AddPositional(const Value& value, bool leaf_wise, Cursor& cursor, llvm::StringRef text);
  Status AddArchive(const ArrayFile& file, bool all);
  std::optional<int64_t> TakeParameter(llvm::StringRef name, const llvm::StringMap<int64_t>& parameters,
                                       llvm::StringRef& rest) const;
  [[nodiscard]] std::string MemberError(llvm::StringRef name, llvm::StringRef rest, const Assignment& a,
                                        size_t first) const;
  Status AddMember(llvm::StringRef name, const NpyArray& array, llvm::StringRef path, size_t first,
                   const llvm::StringMap<int64_t>& parameters);
  Result<Assignment> ParseSelector(llvm::StringRef selector) const;
  Result<int64_t> FindParameter(llvm::StringRef name) const;
  Result<Literal> MakeParameter(int64_t parameter, int64_t device, uint64_t seed) const;
  Result<ValueRule> FakeRule() const;
  [[nodiscard]] bool SameOnAllDevices(int64_t parameter) const;
  [[nodiscard]] const Shape& ParameterShape(int64_t number) const;
  [[nodiscard]] std::string Describe(int64_t parameter, const ShapeIndex& index) const;
  const Value* Keep(std::unique_ptr<Value> value);

  const RunOptions& options_;
  const Module& module_;
  llvm::ArrayRef<Literal> stored_;
  DeviceCount devices_;
  uint64_t seed_ = 0;
  std::vector<GlobalForm> forms_;  // of parameters
  std::vector<std::unique_ptr<Value>> values_;
  std::vector<Assignment> assignments_;
  ValueRule fake_;
  bool fake_shared_ = true;
  std::vector<std::vector<ValueRule>>
      leaf_rules_;  // by parameter and leaf: constraints traced through the module
};

}  // namespace hlo
