#include "backends/cpu/weights.h"

#include <cstring>

#include "backends/cpu/weights_file.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace hlo::cpu {
namespace {

/// Smaller constants stay in the object. Bytes.
constexpr size_t kLeast = 1024;

}  // namespace

WeightsWriter::WeightsWriter() : file_(sizeof(WeightsHead), '\0') {}

bool WeightsWriter::Takes(const compile::Buffer& buffer) {
  return buffer.kind == compile::BufferKind::Constant && buffer.size >= static_cast<int64_t>(kLeast);
}

void WeightsWriter::Take(codegen::EntryPoint& entry) {
  entry.in_weights.clear();
  for (const llvm::ArrayRef<uint8_t> constant : entry.constants)
    entry.in_weights.push_back(
        constant.size() < kLeast ? -1 : static_cast<int64_t>(PlaceOf(llvm::toStringRef(constant))));
}

size_t WeightsWriter::PlaceOf(llvm::StringRef constant) {
  const uint64_t hash = llvm::xxh3_64bits(constant);
  const auto [begin, end] = places_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const auto [place, bytes] = it->second;
    if (llvm::StringRef(file_).substr(place, bytes) == constant) return place;
  }
  const size_t place = file_.size();
  places_.emplace(hash, std::pair(place, constant.size()));
  file_ += constant;
  file_.resize((file_.size() + compile::kAlignment - 1) / compile::kAlignment * compile::kAlignment);
  return place;
}

std::string WeightsWriter::Finish() {
  WeightsHead head = {};
  std::memcpy(head.magic, kWeightsMagic, sizeof head.magic);
  head.bytes = bytes_ = file_.size();
  head.hash = hash_ = llvm::xxh3_64bits(llvm::StringRef(file_).drop_front(sizeof head));
  std::memcpy(file_.data(), &head, sizeof head);
  return std::move(file_);
}

}  // namespace hlo::cpu
