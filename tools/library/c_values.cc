// hlo/hlo_c.h: arrays of the caller's as values of programs.
#include "tools/library/c_program.h"

namespace hlo_toolkit::internal {
namespace {

// Structs of the first version ended here.
constexpr size_t kFirstSize = offsetof(HloArray, minor_to_major);

/// Whether the caller's array is of that type and has these sizes.
bool IsOf(const HloArray& array, const hlo::Shape& shape) {
  if (array.type != FromElementType(shape.element_type()) || array.rank != shape.rank()) return false;
  for (int32_t d = 0; d < array.rank; ++d)
    if (array.dimensions[d] != shape.dim(d)) return false;
  return true;
}

size_t BytesOf(const hlo::Shape& shape) {
  return static_cast<size_t>(shape.ElementCount()) *
         static_cast<size_t>(hlo::Info(shape.element_type()).host_bytes());
}

/// One of the caller's structs, or a copy of it where the caller knows other fields.
class ArrayReader {
 public:
  HloError* Read(const HloArray* first, size_t number, const char* what) {
    const HloArray* given = At(first, number);
    const size_t size = given->struct_size;
    if (size < kFirstSize) return BadCall("{0} {1} is no struct of an array", what, number);
    if (size != first->struct_size)
      return BadCall("{0}s are structs of {1} and of {2} bytes", what, first->struct_size, size);
    array_ = given;
    if (size == sizeof(HloArray)) return nullptr;
    array_ = &copy_;
    return ReadStruct(given, "the fields of an array", copy_);
  }
  const HloArray& operator*() const { return *array_; }

 private:
  const HloArray* array_ = nullptr;
  HloArray copy_;
};

/// Whether there is memory for an array.
HloError* CheckMemory(const HloArray& array, const char* what, size_t number, size_t needed) {
  if (array.bytes < needed)
    return BadCall("{0} {1} needs {2} bytes, but has {3}", what, number, needed, array.bytes);
  if (array.data == nullptr && needed != 0) return BadCall("{0} {1} has no memory", what, number);
  return nullptr;
}

/// A shape of arrays with the order that the elements have in the caller's memory.
HloError* OrderOf(const HloArray& array, const hlo::Shape& sizes, const char* what, size_t number,
                  hlo::Shape& shape) {
  HloArray whole = ToArray(FromShape(sizes));
  whole.minor_to_major = array.minor_to_major;
  Shape made;
  const std::string name = llvm::formatv("{0} {1}", what, number).str();
  if (HloError* error = ShapeOf(whole, name.c_str(), made)) return error;
  auto inner = ToShape(made);
  if (!inner) return ToError(ToStatus(inner.error()));
  shape = std::move(*inner);
  return nullptr;
}

}  // namespace

void AddArrays(const hlo::Shape& shape, std::vector<hlo::Shape>& arrays) {
  if (shape.IsArray()) arrays.push_back(shape);
  if (shape.IsTuple())
    for (const hlo::Shape& part : shape.tuple_shapes()) AddArrays(part, arrays);
}

HloError* CheckCount(const char* what, const HloArray* given, size_t count, size_t wanted,
                     const char* wants) {
  if (count != wanted) return BadCall("{0} {1}, the program {2} {3}", count, what, wants, wanted);
  return given == nullptr && count != 0 ? BadCall("the {0} are null", what) : nullptr;
}

HloError* CheckResults(const std::vector<hlo::Shape>& shapes, const HloArray* results, size_t& next) {
  for (const hlo::Shape& shape : shapes) {
    const size_t number = next++;
    ArrayReader reader;
    if (HloError* error = reader.Read(results, number, "result")) return error;
    const HloArray& array = *reader;
    if (array.type != FromElementType(shape.element_type()) || array.rank != shape.rank())
      return BadCall("result {0} is of another type or rank than {1}", number,
                     hlo::ToString(shape, /*with_layout=*/false));
    if (HloError* error = CheckMemory(array, "result", number, BytesOf(shape))) return error;
    if (array.minor_to_major == nullptr) continue;
    hlo::Shape order;
    if (HloError* error = OrderOf(array, shape, "result", number, order)) return error;
  }
  return nullptr;
}

HloError* TakeValue(const HloArray* arguments, size_t& next, const hlo::Shape& shape,
                    std::vector<hlo::Literal>& values) {
  if (shape.IsTuple()) {
    std::vector<hlo::Literal> parts;
    for (const hlo::Shape& part : shape.tuple_shapes())
      if (HloError* error = TakeValue(arguments, next, part, parts)) return error;
    values.push_back(hlo::Literal::MakeTuple(std::move(parts)));
    return nullptr;
  }
  if (!shape.IsArray()) {
    values.push_back(hlo::Literal::MakeToken());
    return nullptr;
  }
  const size_t number = next++;
  ArrayReader reader;
  if (HloError* error = reader.Read(arguments, number, "argument")) return error;
  const HloArray& array = *reader;
  if (!IsOf(array, shape))
    return BadCall("argument {0} is of another type or other sizes than {1}", number,
                   hlo::ToString(shape, /*with_layout=*/false));
  const size_t needed = BytesOf(shape);
  if (HloError* error = CheckMemory(array, "argument", number, needed)) return error;
  constexpr size_t kMostAligned = 8;
  const auto width = static_cast<size_t>(hlo::Info(shape.element_type()).host_bytes());
  if (array.minor_to_major != nullptr) {
    hlo::Shape order;
    if (HloError* error = OrderOf(array, shape, "argument", number, order)) return error;
    values.push_back(FromMemory(order, array.data).WithShape(shape));
    return nullptr;
  }
  if (reinterpret_cast<uintptr_t>(array.data) % std::min(width, kMostAligned) != 0) {
    hlo::Literal copy = hlo::Literal::Make(shape);
    std::memcpy(copy.MutableData(), array.data, needed);
    values.push_back(std::move(copy));
  } else {
    values.push_back(hlo::Literal::Borrow(shape, array.data, nullptr));
  }
  // Wider elements are as they should be.
  if (width == 1) values.back() = Canonical(std::move(values.back()));
  return nullptr;
}

void GiveValue(const hlo::Literal& value, HloArray* results, size_t& next) {
  if (value.shape().IsTuple())
    for (const hlo::Literal& part : value.elements()) GiveValue(part, results, next);
  if (!value.shape().IsArray()) return;
  if (value.HasDynamicSizes() || value.packed())
    return GiveValue((value.HasDynamicSizes() ? value.ToStatic() : value).Unpack(), results, next);
  HloArray* to = At(results, next++);
  for (int64_t d = 0; d < value.shape().rank(); ++d) to->dimensions[d] = value.shape().dim(d);
  const bool knows_orders = to->struct_size >= sizeof(HloArray);
  if (knows_orders && to->minor_to_major != nullptr) {
    hlo::Shape order;
    // It was checked.
    if (HloError* error = OrderOf(*to, value.shape(), "result", next, order)) return hlo_error_free(error);
    return ToMemory(value, order, to->data);
  }
  if (value.byte_size() != 0) std::memcpy(to->data, value.data(), value.byte_size());
}

}  // namespace hlo_toolkit::internal
