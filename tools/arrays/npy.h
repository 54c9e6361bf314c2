// NumPy arrays as bytes: the .npy container, and how its types correspond to element types.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/literal.h"
#include "ir/support/result.h"

namespace hlo {

/// One array as it lies in a file.
struct NpyArray {
  std::string descr;  // `<f4`
  char kind = 0;      // f i u b c V
  int64_t item_size = 0;
  bool big_endian = false, fortran_order = false;
  Dims shape;
  llvm::StringRef data;  // item_size bytes per element
  std::shared_ptr<const void> owner;
};

/// The arrays of an .npy file (several may follow each other). Everything is checked against the size of
/// the file. Errors: input-array.
Result<std::vector<NpyArray>> ReadNpy(llvm::StringRef bytes, const std::shared_ptr<const void>& owner);

/// `f32[3,4]`, or where NumPy's type has no counterpart `numpy '|V2' [3,4]`.
std::string Describe(const NpyArray& array);
/// The shape of a literal with the array's own type; nothing if NumPy's type has no counterpart.
std::optional<Shape> NativeShape(const NpyArray& array);
/// Whether the array can become a literal of `shape`: same sizes (bounded dynamic dimensions may be
/// shorter, a scalar may come with shape (1,)) and type; types NumPy lacks take any array of the right item
/// size.
bool Fits(const NpyArray& array, const Shape& shape);
/// Requires Fits(). Uses the array's memory where it is aligned and in the right order.
Literal ToLiteral(const NpyArray& array, const Shape& shape);

/// The .npy header for an array literal's type and sizes; with `widen`, types NumPy lacks stand as f32,
/// int8 or uint8 instead of void.
std::string NpyHeader(const Shape& shape, bool widen);
/// The literal to be written behind that header: static, unpacked, widened.
Literal NpyPayload(const Literal& array, bool widen);

}  // namespace hlo
