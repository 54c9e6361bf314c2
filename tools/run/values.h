// The VALUE of --input and --expected: files, literals, generators (tools.md §3.2).
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/arrays/array_file.h"
#include "tools/arrays/fake_values.h"

namespace hlo {

/// `4xf32=1 2 3 4`: the type as written (i32 fits s32 and u32) and the elements' texts.
struct IreeValue {
  llvm::StringRef type;
  Dims dims;
  std::vector<llvm::StringRef> elements;
};

/// A VALUE, read as far as possible without knowing the shape it is for. Texts point into `text`.
struct Value {
  std::string text;  // as given
  std::variant<std::monostate, NpyArray, ArrayFile, ValueRule, IreeValue, Literal>
      what;                      // monostate: literal text
  llvm::StringRef literal_text;  // of literals without shape
  std::string file;              // where it stands, for messages: `f.npy`, `f.npz#key`
  bool narrow = false;           // f32 arrays may stand for narrower floats, as --npy-widen writes them
};

/// A generator's rule: zeros, ones, const(V), iota, iota(DIM), uniform(LO,HI), normal(MEAN,STD), device-id,
/// uninit.
std::optional<ValueRule> ParseGenerator(llvm::StringRef text);
/// The names of the generators.
std::vector<llvm::StringRef> GeneratorNames();

/// Reads VALUE. A file of several arrays gives one Value per array; an npz without `#key` gives one Value
/// holding the ArrayFile. Errors: input-open, input-array, input-literal, usage-option.
Result<std::vector<std::unique_ptr<Value>>> ReadValue(llvm::StringRef text, llvm::StringRef option);

/// Whether a generator can make a value of this shape; `text` is how it was given. Error: input-shape.
Status CheckRule(const ValueRule& rule, const Shape& shape, const std::string& what, llvm::StringRef text);

/// `value` as a literal of `shape`. `what` begins messages (`argument 0: parameter %p`). Errors:
/// input-shape where type or sizes disagree, input-literal for malformed text.
Result<Literal> MakeLiteral(const Value& value, const Shape& shape, const std::string& what,
                            const ValueSeed& seed);
/// The shape of a value that says its own; nothing for generators and texts that need one.
std::optional<Shape> OwnShape(const Value& value);

}  // namespace hlo
