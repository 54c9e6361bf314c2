// The wire format of protocol buffers, reading side.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/layout.h"
#include "ir/support/diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// What is found while a message is read: the first error, and the fields that nobody asked for.
class ProtoProblems {
 public:
  /// Keeps the first error. It is about what `context` names.
  void Fail(Diagnostic error);
  template <class... Args>
  void Fail(const char* format, Args&&... args) {
    Fail(MakeError("input-format", {}, format, std::forward<Args>(args)...));
  }
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const std::optional<Diagnostic>& error() const { return error_; }
  /// `Message.number` of fields that were not read, each with its count.
  std::map<std::string, int64_t> unread;
  /// `in %name of computation %comp`, of what is being read.
  std::string context;

 private:
  std::optional<Diagnostic> error_;
};

/// One message, its fields found, messages within not yet. A field that is missing reads as zero or empty, as
/// proto3 has it; of a field given twice the last counts. Bytes are not copied.
class ProtoMessage {
 public:
  /// `name` is for reports and lives as long as the message.
  ProtoMessage(llvm::StringRef bytes, llvm::StringLiteral name, ProtoProblems& problems, int depth = 0);
  ProtoMessage(const ProtoMessage&) = delete;
  ProtoMessage& operator=(const ProtoMessage&) = delete;
  /// Notes the fields that were not read.
  ~ProtoMessage();

  [[nodiscard]] bool Has(int field) { return Find(field, kAnyType) != nullptr; }
  int64_t Number(int field);
  /// A number that must lie in 0…count-1, else it fails and is 0.
  int64_t Number(int field, size_t count);
  float Float(int field);
  double Double(int field);
  llvm::StringRef Text(int field);
  /// Numbers, packed or one by one.
  template <class List>
  void Numbers(int field, List& list) {
    ForEachNumber(field, [&](int64_t n) { list.push_back(static_cast<typename List::value_type>(n)); });
  }
  /// The message within; null if it is missing.
  ProtoMessage* Message(int field, llvm::StringLiteral name);
  void ForEach(int field, llvm::StringLiteral name, llvm::function_ref<void(ProtoMessage&)> f);
  void ForEachText(int field, llvm::function_ref<void(llvm::StringRef)> f);
  void ForEachNumber(int field, llvm::function_ref<void(int64_t)> f);
  /// The field says nothing that other fields do not say.
  void Ignore(int field);
  /// As Ignore, for every field: another object reads them.
  void IgnoreAll();

  [[nodiscard]] ProtoProblems& problems() const { return problems_; }
  [[nodiscard]] int depth() const { return depth_; }

  /// True if the bytes are a sequence of fields.
  static bool IsWellFormed(llvm::StringRef bytes);
  /// The bytes of a field that holds some, in well-formed bytes; nothing if there is none such.
  static std::optional<llvm::StringRef> FindBytes(llvm::StringRef bytes, int field);

 private:
  struct Field {
    int number = 0;
    int type = 0;
    bool read = false;
    uint64_t value = 0;  // of numbers
    llvm::StringRef bytes;
    std::unique_ptr<ProtoMessage> message;
  };
  static constexpr int kAnyType = -1;
  static bool Next(llvm::StringRef& bytes, Field& field);
  Field* Find(int field, int type);
  bool Matches(Field& field, int number, int type);

  llvm::StringLiteral name_;
  ProtoProblems& problems_;
  int depth_;
  std::vector<Field> fields_;
};

/// Takes a varint from the front of `bytes`; false if there is none.
bool TakeVarint(llvm::StringRef& bytes, uint64_t& value);

}  // namespace hlo
