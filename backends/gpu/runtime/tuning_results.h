// Which schedules were found to be best, in a file of text.
#pragma once
#include <map>
#include <string>

#include "ir/support/result.h"
#include "llvm/ADT/StringRef.h"

namespace hlo::gpu {

/// Lines `TARGET DEVICE KERNEL NANOSECONDS SCHEDULE`; `#` begins a comment. A kernel is a hash of its loops,
/// without any schedule, and of the description of the target.
class TuningResults {
 public:
  struct Key {
    std::string target, device, kernel;  // words
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    double nanoseconds = 0;
    std::string schedule;
  };
  static constexpr uint64_t kMostBytes = uint64_t{1} << 26;  // of a file that is a device or pipe
  static std::string HashOf(llvm::StringRef target, llvm::StringRef kernel);

  /// What the file has; nothing, if it is not there. Errors: input-open; input-format, naming the line.
  static Result<TuningResults> Read(const std::string& file);
  /// Null: nobody knows.
  [[nodiscard]] const Entry* Find(const Key& key) const;
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  void Add(const Key& key, Entry entry) { entries_[key] = std::move(entry); }
  /// All of them and what others have written meanwhile; the file appears whole or not at all. Errors:
  /// input-format; output-write.
  Status Write(const std::string& file) const;

 private:
  std::map<Key, Entry> entries_;
};

}  // namespace hlo::gpu
