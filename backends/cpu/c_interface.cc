#include "backends/cpu/c_interface.h"

namespace hlo::cpu {
namespace {

using codegen::EntryPoint;
using Base = EntryPoint::Base;

/// Arrays of a value, without tokens.
void AppendArrays(const Value& value, const CArray& like, std::vector<CArray>& to) {
  const Leaf* leaf = value.leaves.begin();
  ForEachLeaf(value.shape, [&](const ShapeIndex& index, const Shape& shape) {
    const Slice slice = leaf++->slice;
    if (!shape.IsArray()) return;
    CArray& array = to.emplace_back(like);
    array.index = index;
    array.shape = shape;
    array.slice = slice;
  });
}

}  // namespace

CInterface::CInterface(const Program& program) : program_(program), temp_bytes_(program.arena_bytes) {
  const auto& parameters = program.module->entry()->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    CArray like;
    like.name = parameters[i]->name().str();
    like.parameter = static_cast<int64_t>(i);
    AppendArrays(program.parameters[i], like, arguments_);
  }
  AppendArrays(program.result, {}, results_);
  PlaceBuffers();
}

std::vector<Slice> CInterface::ResultSlices() const {
  std::vector<Slice> slices;
  for (const CArray& result : results_) slices.push_back(result.slice);
  return slices;
}

std::vector<llvm::SmallVector<size_t, 1>> CInterface::ByBuffer(llvm::ArrayRef<CArray> arrays) const {
  std::vector<llvm::SmallVector<size_t, 1>> numbers(program_.buffers.size());
  for (size_t i = 0; i < arrays.size(); ++i)
    if (arrays[i].slice.buffer >= 0) numbers[static_cast<size_t>(arrays[i].slice.buffer)].push_back(i);
  return numbers;
}

/// Buffers of results lie in the caller's memory where they are one result and nothing else.
void CInterface::PlaceBuffers() {
  const auto arguments_in = ByBuffer(arguments_), results_in = ByBuffer(results_);
  for (size_t number = 0; number < program_.buffers.size(); ++number) {
    const Buffer& buffer = program_.buffers[number];
    EntryPoint::Place place;
    switch (buffer.kind) {
      case BufferKind::Parameter: {
        if (arguments_in[number].empty()) break;  // a token
        place = {Base::Argument, arguments_in[number].front(), 0};
        if (!buffer.written) break;
        for (const size_t i : results_in[number]) results_[i].argument = static_cast<int64_t>(place.number);
        break;
      }
      case BufferKind::Constant:
        place = {Base::Constant, entry_.constants.size(), 0};
        entry_.constants.emplace_back(buffer.constant.data(), static_cast<size_t>(buffer.size));
        break;
      case BufferKind::Output: {
        const CArray* result = results_in[number].empty() ? nullptr : &results_[results_in[number].front()];
        const bool whole =
            result != nullptr && result->slice.offset == 0 && result->slice.size == buffer.size;
        place = whole ? EntryPoint::Place{Base::Result, results_in[number].front(), 0}
                      : EntryPoint::Place{Base::Temporary, 0, Reserve(buffer.size)};
        break;
      }
      case BufferKind::Temporary: place = {Base::Temporary, 0, buffer.offset}; break;
    }
    places_.push_back(place);
  }
}

int64_t CInterface::Reserve(int64_t bytes) {
  const int64_t offset = temp_bytes_;
  temp_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

EntryPoint::Place CInterface::PlaceOf(const Slice& slice) const {
  if (slice.buffer < 0) return {};
  EntryPoint::Place place = places_[static_cast<size_t>(slice.buffer)];
  place.offset += slice.offset;
  return place;
}

EntryPoint CInterface::EntryFor(llvm::ArrayRef<std::vector<Slice>> slots) {
  for (const CArray& argument : arguments_) entry_.arguments.push_back(argument.bytes() > 0);
  for (const CArray& result : results_) entry_.results.push_back(result.bytes() > 0);
  entry_.temporary = temp_bytes_ > 0;
  entry_.alignment = kAlignment;
  for (const std::vector<Slice>& of_routine : slots) {
    std::vector<EntryPoint::Place>& places = entry_.slots.emplace_back();
    for (const Slice& slot : of_routine) places.push_back(PlaceOf(slot));
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    const EntryPoint::Place from = PlaceOf(results_[i].slice), to{Base::Result, i, 0};
    if (results_[i].bytes() > 0 && (from.base != to.base || from.number != i || from.offset != 0))
      entry_.copies.push_back({from, to, results_[i].bytes()});
  }
  return std::move(entry_);
}

}  // namespace hlo::cpu
