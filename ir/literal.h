// Literals: typed dense data with a shape.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/shape.h"
#include "llvm/ADT/ArrayRef.h"

namespace hlo {

/// A value: an array (logical row-major order whatever the layout of its shape), a tuple of
/// literals, a token/opaque placeholder, or an array whose elements are not known (elided). Copying is cheap:
/// data is shared; MutableData() copies it first if somebody else holds it. Elements narrower than a byte
/// come in two storage forms: unpacked (one element per byte, value in the low bits, sign- or zero-extended;
/// the form in which ops compute and a fresh literal is made) and packed (8/w per byte, first element in the
/// least significant bits; the form in which constants are kept). Bounded dynamic dimensions have storage for
/// the bound; DynamicSize() tells the run-time size.
class Literal {
 public:
  /// Null literal (`!valid()`).
  Literal() = default;
  /// Uninitialised contents; for arrays ByteSize(shape) must have been checked to be sane.
  static Literal Make(const Shape& shape);
  /// All bytes zero.
  static Literal Zeros(const Shape& shape);
  static Literal MakeTuple(std::vector<Literal> elements);
  static Literal MakeToken();
  /// An array that was printed as `{...}`: a shape without data. Of an array without elements nothing is left
  /// out: it is as by Make().
  static Literal Elided(const Shape& shape);
  /// A scalar of the type whose C++ representation is T (see NativeType in ir/numeric/native.h or
  /// plain C++ types of the same width).
  template <class T>
  static Literal Scalar(ElementType type, T value) {
    Literal l = Make(Shape::ArrayWithDefaultLayout(type, {}));
    std::memcpy(l.MutableData(), &value, sizeof(T));
    return l;
  }
  /// Borrows `data` (unpacked), kept alive by `owner`; never written through.
  static Literal Borrow(const Shape& shape, const void* data, std::shared_ptr<const void> owner);
  /// The same, and MutableData() may be `data`: the caller lends it for writing too.
  static Literal Adopt(const Shape& shape, void* data, std::shared_ptr<const void> owner);
  /// The same value in memory of its own, parts of tuples too.
  [[nodiscard]] Literal Copy() const;

  [[nodiscard]] bool valid() const { return shape_.valid(); }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// An elided array, or a tuple with one among its leaves. Such a literal can be copied, compared and
  /// printed, but has no values.
  [[nodiscard]] bool HasElided() const;
  /// Same data under another shape with the same element type and count (layout or dims changed).
  [[nodiscard]] Literal WithShape(const Shape& shape) const;

  // Arrays.
  [[nodiscard]] const uint8_t* data() const { return data_; }
  [[nodiscard]] size_t byte_size() const { return byte_size_; }
  /// Writable data, unshared. Aligned to 64 bytes when made here.
  uint8_t* MutableData();
  /// True if MutableData() would not copy.
  [[nodiscard]] bool IsUnique() const { return buffer_ && buffer_.use_count() == 1 && !borrowed_; }
  /// Typed views; sizeof(T) must be the element's host size, and the storage unpacked.
  template <class T>
  [[nodiscard]] llvm::ArrayRef<T> Data() const {
    // Not in braces: of bool they would be a list of a pointer and a size.
    return llvm::ArrayRef<T>(reinterpret_cast<const T*>(data_), byte_size_ / sizeof(T));
  }
  template <class T>
  llvm::MutableArrayRef<T> MutableSpan() {
    return llvm::MutableArrayRef<T>(reinterpret_cast<T*>(MutableData()), byte_size_ / sizeof(T));
  }
  [[nodiscard]] bool packed() const { return packed_; }
  /// The same value in packed / unpacked storage (itself where that is no difference).
  [[nodiscard]] Literal Pack() const;
  [[nodiscard]] Literal Unpack() const;
  /// Raw bits of the element with the given row-major number (low bits; complex: use Data).
  [[nodiscard]] uint64_t Bits(int64_t linear) const;
  void SetBits(int64_t linear, uint64_t bits);  // unpacked storage

  // Dynamic dimensions.
  /// Run-time size of dimension d: the bound unless set.
  [[nodiscard]] int64_t DynamicSize(int64_t d) const {
    return dynamic_sizes_.empty() ? shape_.dim(d) : dynamic_sizes_[static_cast<size_t>(d)];
  }
  /// Requires 0 <= size <= bound.
  void SetDynamicSize(int64_t d, int64_t size);
  [[nodiscard]] bool HasDynamicSizes() const { return !dynamic_sizes_.empty(); }
  /// Only the valid part, with a static shape.
  [[nodiscard]] Literal ToStatic() const;

  // Tuples.
  [[nodiscard]] llvm::ArrayRef<Literal> elements() const {
    return elements_ ? llvm::ArrayRef(*elements_) : llvm::ArrayRef<Literal>();
  }
  [[nodiscard]] const Literal& element(int64_t i) const { return (*elements_)[static_cast<size_t>(i)]; }
  /// Elements to write to, unshared.
  llvm::MutableArrayRef<Literal> MutableElements();
  /// Element `i`, moved out if nobody else holds this tuple, which is not needed any more.
  Literal TakeElement(int64_t i);

  /// Same shape (layouts ignored) and the same bits, element by element; both storage forms compare.
  /// Elided arrays equal each other, if of the same shape.
  friend bool operator==(const Literal& a, const Literal& b);
  friend llvm::hash_code hash_value(const Literal& l);

 private:
  Shape shape_;
  std::shared_ptr<const void> buffer_;
  uint8_t* data_ = nullptr;
  size_t byte_size_ = 0;
  bool packed_ = false;
  bool borrowed_ = false;
  bool elided_ = false;
  /// This tuple with what `f` makes of each element.
  template <class F>
  [[nodiscard]] Literal MapElements(F f) const;
  void Clear();
  static bool EqualValues(const Literal& a, const Literal& b);

  llvm::SmallVector<int64_t, 2> dynamic_sizes_;
  std::shared_ptr<std::vector<Literal>> elements_;  // tuples only, shared by copies
};

/// While it lives, the first array of `shape` (a type and dimensions) that this thread makes with
/// Literal::Make lies in `memory`, which outlives that array.
class ResultPlacement {
 public:
  ResultPlacement(const Shape& shape, void* memory);
  ~ResultPlacement();
  ResultPlacement(const ResultPlacement&) = delete;
  ResultPlacement& operator=(const ResultPlacement&) = delete;
};

/// A literal shared by the IR.
using LiteralPtr = std::shared_ptr<const Literal>;

}  // namespace hlo
