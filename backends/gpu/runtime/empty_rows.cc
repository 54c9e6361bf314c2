#include "backends/gpu/runtime/empty_rows.h"

#include <limits>

#include "passes/rewrite/maker.h"

namespace hlo::gpu {
namespace {

Dims SizesOf(const ArrayAlong& dims) {
  Dims sizes;
  for (const AlongScores& dim : dims) sizes.push_back(dim.size);
  return sizes;
}

bool IsKey(const EmptyRows& rows, const AlongScores& dim) {
  return dim.scores >= rows.keys.first && dim.scores < rows.keys.second;
}

ArrayAlong WithoutKeys(const EmptyRows& rows, const ArrayAlong& dims) {
  ArrayAlong others = dims;
  llvm::erase_if(others, [&](const AlongScores& dim) { return IsKey(rows, dim); });
  return others;
}

/// The place of a dimension among others that have it.
int64_t PlaceIn(const ArrayAlong& dims, const AlongScores& wanted) {
  return llvm::find_if(dims, [&](const AlongScores& dim) { return dim.scores == wanted.scores; }) -
         dims.begin();
}

/// A value of some dimensions for all of those that others have.
Instruction* Along(Maker& make, Instruction* value, const ArrayAlong& dims, const ArrayAlong& all) {
  Dims order, places;
  for (size_t d = 0; d < dims.size(); ++d) order.push_back(static_cast<int64_t>(d));
  const auto place = [&](int64_t d) { return PlaceIn(all, dims[static_cast<size_t>(d)]); };
  llvm::sort(order, [&](int64_t a, int64_t b) { return place(a) < place(b); });
  for (const int64_t d : order) places.push_back(place(d));
  const Shape shape = Shape::ArrayWithDefaultLayout(value->shape().element_type(), SizesOf(all));
  return make.Broadcast(make.Transpose(value, order), shape, places);
}

}  // namespace

EmptyRowsApart PutApart(const EmptyRows& rows, Instruction* bias, Instruction* result) {
  Maker make(result);
  Dims keys, others;
  for (size_t d = 0; d < rows.bias.size(); ++d)
    if (IsKey(rows, rows.bias[d])) keys.push_back(static_cast<int64_t>(d));
  const ElementType of_bias = bias->shape().element_type();
  Instruction* largest = make.Reshape(bias, SizesOf(rows.bias));
  if (!keys.empty())
    largest = make.Reduce(largest, make.Scalar(of_bias, -std::numeric_limits<double>::infinity()), keys,
                          OpKind::Maximum);
  Instruction* const empty = make.Compare(Direction::LE, largest, make.Full(largest->shape(), rows.masked));
  Instruction* const all = make.Reshape(result, SizesOf(rows.result));
  Instruction* const are_empty = Along(make, empty, WithoutKeys(rows, rows.bias), rows.result);
  Instruction* const zeros = make.Full(all->shape(), 0);
  const ArrayAlong of_values = WithoutKeys(rows, rows.values);
  for (size_t d = 0; d < rows.result.size(); ++d)
    if (PlaceIn(of_values, rows.result[d]) == static_cast<int64_t>(of_values.size()))
      others.push_back(static_cast<int64_t>(d));
  Instruction* sums = make.Convert(make.Select(are_empty, all, zeros), ElementType::F32);
  sums = make.Reduce(sums, make.Scalar(ElementType::F32, 0), others, OpKind::Add);
  // In the order of values.
  ArrayAlong kept;
  for (const AlongScores& dim : rows.result)
    if (PlaceIn(of_values, dim) < static_cast<int64_t>(of_values.size())) kept.push_back(dim);
  sums = Along(make, sums, kept, of_values);
  const double each = static_cast<double>(rows.keys.first) / static_cast<double>(rows.keys.second);
  return {make.Reshape(make.Select(are_empty, zeros, all), result->shape().dims()),
          make.Binary(OpKind::Multiply, sums, make.Full(sums->shape(), each))};
}

Instruction* AddApart(const EmptyRows& rows, Instruction* values, Instruction* apart) {
  Maker make(values);
  Instruction* const all = make.Convert(make.Reshape(values, SizesOf(rows.values)), ElementType::F32);
  Instruction* const added = Along(make, apart, WithoutKeys(rows, rows.values), rows.values);
  Instruction* const sum = make.Binary(OpKind::Add, all, added);
  return make.Reshape(make.Convert(sum, values->shape().element_type()), values->shape().dims());
}

}  // namespace hlo::gpu
