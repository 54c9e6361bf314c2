// Files of arrays and literals: reading arguments and expectations, writing results (tools.md §3.2, §3.3).
#pragma once
#include <string>
#include <vector>

#include "ir/literal.h"
#include "ir/support/result.h"
#include "tools/arrays/npy.h"

namespace hlo {

/// A file named in `@FILE`, mapped into memory.
struct ArrayFile {
  enum class Kind : uint8_t { Npy, Npz, Raw, Text };
  Kind kind = Kind::Npy;
  std::string path;
  std::vector<std::pair<std::string, NpyArray>> arrays;  // Npy: unnamed
  llvm::StringRef bytes;                                 // Raw, Text: everything
  std::shared_ptr<const void> owner;
};

/// Opens by extension (npy, npz, bin, txt), content beating it for npy and npz. Errors name the file:
/// input-open, input-array, input-format.
Result<ArrayFile> OpenArrayFile(llvm::StringRef path);

/// One array with the name it has in files.
struct NamedArray {
  std::string name;  // `out0_1_r0_p1`
  Literal value;
};
/// Array leaves of a value, named `prefix` + number + tuple index (`out0`, `out0_1`) + suffix. A tuple's
/// elements count separately if `split_tuple`.
void AppendLeaves(const Literal& value, llvm::StringRef prefix, bool split_tuple, llvm::StringRef suffix,
                  std::vector<NamedArray>& arrays);

enum class ArrayFormat : uint8_t { Npy, Npz, Bin, Txt, Json };
/// By extension; error usage-option.
Result<ArrayFormat> ArrayFormatOf(llvm::StringRef option, llvm::StringRef path);
/// Writes arrays in one of the formats (npy: one after another; bin: their bytes; txt: `whole`, a line per
/// device).
Status WriteArrays(llvm::StringRef path, ArrayFormat format, llvm::ArrayRef<NamedArray> arrays,
                   llvm::ArrayRef<Literal> whole, bool widen, llvm::raw_ostream& standard_output,
                   llvm::ArrayRef<std::string> inputs);

/// The names of an archive's members, the first dozen of them, for messages.
std::string MembersOf(const ArrayFile& file);

}  // namespace hlo
