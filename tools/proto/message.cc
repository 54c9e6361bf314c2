#include "tools/proto/message.h"

#include <bit>

#include "ir/support/stack.h"
#include "llvm/Support/Endian.h"
#include "tools/proto/wire.h"

namespace hlo {

void ProtoProblems::Fail(Diagnostic error) {
  if (error_) return;
  error.context = context;
  error_ = std::move(error);
}

bool TakeVarint(llvm::StringRef& bytes, uint64_t& value) {
  constexpr unsigned kMostBits = 64;
  value = 0;
  for (unsigned shift = 0; shift < kMostBits && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes = bytes.drop_front();
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ProtoMessage::Next(llvm::StringRef& bytes, Field& field) {
  uint64_t tag = 0;
  constexpr uint64_t kMostFields = (1 << 29) - 1;
  if (!TakeVarint(bytes, tag) || tag >> 3 == 0 || tag >> 3 > kMostFields) return false;
  field.number = static_cast<int>(tag >> 3);
  field.type = static_cast<int>(tag & 7);
  const auto take = [&](uint64_t length) {
    if (length > bytes.size()) return false;
    field.bytes = bytes.take_front(length);
    bytes = bytes.drop_front(length);
    return true;
  };
  switch (field.type) {
    case kProtoVarint: return TakeVarint(bytes, field.value);
    case kProtoFixed64:
      if (!take(8)) return false;
      field.value = llvm::support::endian::read64le(field.bytes.data());
      return true;
    case kProtoFixed32:
      if (!take(4)) return false;
      field.value = llvm::support::endian::read32le(field.bytes.data());
      return true;
    case kProtoBytes: {
      uint64_t length = 0;
      return TakeVarint(bytes, length) && take(length);
    }
    default: return false;
  }
}

ProtoMessage::ProtoMessage(llvm::StringRef bytes, llvm::StringLiteral name, ProtoProblems& problems,
                           int depth)
    : name_(name), problems_(problems), depth_(depth) {
  if (depth > kMaxNesting)
    problems.Fail(MakeError("limit-nesting", {}, "messages within each other are more than {0} levels deep",
                            kMaxNesting));
  const size_t size = bytes.size();
  while (!bytes.empty() && !problems.failed()) {
    const size_t at = size - bytes.size();
    Field field;
    if (Next(bytes, field))
      fields_.push_back(std::move(field));
    else
      problems.Fail("{0}: malformed field at byte {1} of {2}", name, at, size);
  }
}

ProtoMessage::~ProtoMessage() {
  for (const Field& field : fields_)
    if (!field.read) ++problems_.unread[name_.str() + "." + std::to_string(field.number)];
}

bool ProtoMessage::Matches(Field& field, int number, int type) {
  if (field.number != number) return false;
  field.read = true;
  const bool packed = type == kProtoVarint && field.type == kProtoBytes;
  if (type == kAnyType || field.type == type) return true;
  if (!packed) problems_.Fail("{0}: field {1} has the wrong type {2}", name_, number, field.type);
  return packed;
}

ProtoMessage::Field* ProtoMessage::Find(int field, int type) {
  Field* found = nullptr;
  for (Field& f : fields_)
    if (Matches(f, field, type)) found = &f;
  return found;
}

int64_t ProtoMessage::Number(int field) {
  const Field* found = Find(field, kProtoVarint);
  if (found && found->type != kProtoVarint) {
    problems_.Fail("{0}: field {1} is a list, expected a number", name_, field);
    return 0;
  }
  return found ? static_cast<int64_t>(found->value) : 0;
}

int64_t ProtoMessage::Number(int field, size_t count) {
  const int64_t number = Number(field);
  if (number >= 0 && static_cast<uint64_t>(number) < count) return number;
  problems_.Fail("{0}: field {1} is {2}, expected 0 to {3}", name_, field, number, count - 1);
  return 0;
}

float ProtoMessage::Float(int field) {
  const Field* found = Find(field, kProtoFixed32);
  return found ? std::bit_cast<float>(static_cast<uint32_t>(found->value)) : 0;
}

double ProtoMessage::Double(int field) {
  const Field* found = Find(field, kProtoFixed64);
  return found ? std::bit_cast<double>(found->value) : 0;
}

llvm::StringRef ProtoMessage::Text(int field) {
  const Field* found = Find(field, kProtoBytes);
  return found ? found->bytes : llvm::StringRef();
}

ProtoMessage* ProtoMessage::Message(int field, llvm::StringLiteral name) {
  Field* found = Find(field, kProtoBytes);
  if (!found || found->type != kProtoBytes) return nullptr;
  if (!found->message)
    found->message = std::make_unique<ProtoMessage>(found->bytes, name, problems_, depth_ + 1);
  return found->message.get();
}

void ProtoMessage::ForEach(int field, llvm::StringLiteral name, llvm::function_ref<void(ProtoMessage&)> f) {
  ForEachText(field, [&](llvm::StringRef bytes) {
    ProtoMessage inner(bytes, name, problems_, depth_ + 1);
    if (!problems_.failed()) f(inner);
  });
}

void ProtoMessage::ForEachText(int field, llvm::function_ref<void(llvm::StringRef)> f) {
  for (Field& each : fields_)
    if (!problems_.failed() && Matches(each, field, kProtoBytes)) f(each.bytes);
}

void ProtoMessage::ForEachNumber(int field, llvm::function_ref<void(int64_t)> f) {
  for (Field& each : fields_) {
    if (problems_.failed() || !Matches(each, field, kProtoVarint)) continue;
    if (each.type == kProtoVarint) {
      f(static_cast<int64_t>(each.value));
      continue;
    }
    uint64_t value = 0;
    for (llvm::StringRef rest = each.bytes; !rest.empty(); f(static_cast<int64_t>(value)))
      if (!TakeVarint(rest, value))
        return problems_.Fail("{0}: field {1} is no list of numbers", name_, field);
  }
}

void ProtoMessage::Ignore(int field) { (void)Find(field, kAnyType); }

void ProtoMessage::IgnoreAll() {
  for (Field& field : fields_) field.read = true;
}

bool ProtoMessage::IsWellFormed(llvm::StringRef bytes) {
  Field field;
  while (!bytes.empty())
    if (!Next(bytes, field)) return false;
  return true;
}

std::optional<llvm::StringRef> ProtoMessage::FindBytes(llvm::StringRef bytes, int number) {
  std::optional<llvm::StringRef> found;
  for (Field field; !bytes.empty() && Next(bytes, field);)
    if (field.number == number && field.type == kProtoBytes) found = field.bytes;
  return found;
}

}  // namespace hlo
