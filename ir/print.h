// Printing HLO text, byte for byte as XLA does (hlo-text §6.1, §7; errata-text).
#pragma once
#include <string>

#include "ir/module.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// How subcomputations of an instruction are shown.
enum class SubcomputationMode : uint8_t { NameOnly, FullBodies, NonSequentialBodies, Off };

/// XLA's print options (hlo-text §7.3); the default is XLA's default (long) style.
struct PrintOptions {
  bool percent = true;
  bool program_shape = true;
  bool metadata = true;
  bool only_op_name = false;
  bool operand_shapes = false;
  bool operand_names = true;
  bool operand_index_comments = true;
  bool control_predecessors = true;
  int64_t max_constant_elements = 10;  // larger array constants are elided; -1 = never, tuples included
  bool only_essential_constants = false;
  SubcomputationMode subcomputations = SubcomputationMode::NameOnly;
  bool backend_config = true;
  bool sort_backend_config = false;
  bool infeed_outfeed_config = true;
  bool layouts = true;
  bool result_shapes = true;
  bool origin = true;
  bool frontend_attributes = true;
  bool sharding = true;
  bool async_sugar = true;
  bool compact_gte = false;
  bool compact_operands = false;
  bool channel_ids = true;
  bool parameter_numbers = true;
  bool closing_names = false;  // ` // name` after closing braces
  bool canonical_names = false;
  bool ids = true;
  bool sort_computations = false;
  bool full_replica_groups = false;
  bool inline_stack_frames = false;
  int indent = 0;

  static PrintOptions ShortParsable();
  static PrintOptions Canonical();
  static PrintOptions Fingerprint();
  static PrintOptions ModuleFingerprint();
  /// What a module dump uses: default with async sugar off (hlo-text §7.3 "Module dump").
  static PrintOptions ModuleDump();
};

void Print(llvm::raw_ostream& os, const Module& module,
           const PrintOptions& options = PrintOptions::ModuleDump());
void Print(llvm::raw_ostream& os, const Computation& computation, const PrintOptions& options = {});
void Print(llvm::raw_ostream& os, const Instruction& instruction, const PrintOptions& options = {});
std::string ToString(const Module& module, const PrintOptions& options = PrintOptions::ModuleDump());
std::string ToString(const Computation& computation, const PrintOptions& options = {});
std::string ToString(const Instruction& instruction, const PrintOptions& options = {});

/// Literal text (hlo-text §6.1): `{1, 2}`; whole literal, never elided.
void PrintLiteral(llvm::raw_ostream& os, const Literal& literal);
/// With the shape(s) before it, as in `literal=` of custom-call and in literal text files.
void PrintLiteralWithShape(llvm::raw_ostream& os, const Literal& literal);
/// Text of one element of an array literal.
void PrintElement(llvm::raw_ostream& os, const Literal& literal, int64_t linear);
/// `{mode=highest}` or `{tolerance={…}}`.
void PrintResultAccuracy(llvm::raw_ostream& os, const ResultAccuracy& accuracy);
void PrintSharding(llvm::raw_ostream& os, const Sharding& sharding, bool with_metadata = true);
/// `{visualizing_index=0,name=1.5}`.
void PrintStatistics(llvm::raw_ostream& os, const Statistics& statistics);
/// What stands between the braces of `origin={…}`.
void PrintOrigin(llvm::raw_ostream& os, const Origin& origin);
/// The four tables of the header, each under its title.
void PrintStackTables(llvm::raw_ostream& os, const StackTables& tables);
/// Text that may stand raw where a string or JSON dict is expected: raw if it lexes as one dict, else
/// quoted and escaped.
void PrintStringOrJson(llvm::raw_ostream& os, llvm::StringRef text);
/// The attributes of the header, in the order and spelling of the text, as names and values; those that
/// this version does not know aside.
std::vector<std::pair<llvm::StringRef, std::string>> ModuleAttributeTexts(const Module& module);

/// A field of `metadata={…}`: one of the three is set.
struct MetadataField {
  llvm::StringRef name;
  llvm::StringRef OpMetadata::* text = nullptr;
  int32_t OpMetadata::* number = nullptr;
  llvm::ArrayRef<int32_t> OpMetadata::* numbers = nullptr;
  bool escaped = true;  // of texts
};
/// All of them in the order of printing, unknown ones aside.
llvm::ArrayRef<MetadataField> MetadataFields();

void PrintReplicaGroups(llvm::raw_ostream& os, const ReplicaGroups& groups, bool full = false);
/// The attribute value after `name=`, e.g. `{1,0}` or `LT`. Callee kinds print names.
void PrintField(llvm::raw_ostream& os, const Instruction& inst, const FieldInfo& field,
                const PrintOptions& options);
/// Canonicalised C-escapes of §1 ("String escapes").
void PrintEscaped(llvm::raw_ostream& os, llvm::StringRef text);

}  // namespace hlo
