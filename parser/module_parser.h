// Parsing of whole texts: header, stack-frame tables, computations.
#pragma once
#include "llvm/ADT/StringMap.h"
#include "parser/body.h"

namespace hlo {

/// Reads one text into the (empty) module of the cursor.
class ModuleParser {
 public:
  explicit ModuleParser(Cursor& c) : c_(c), module_(*c.module()), scope_(c) {}
  /// text = module | headerless | single .
  bool Parse();

 private:
  // parse_module.cc
  bool ParseHeader();
  bool ParseComputations();
  bool ParseComputation();
  void ReadAhead(llvm::StringRef name);
  bool SkipIfRead();
  bool ParseComputationHeader(Token& name, Shape& result, Loc& result_loc);
  bool FinishComputation(Computation& computation, const Shape& result, const Loc& result_loc);
  bool ParseSingle();
  bool FinishModule();
  // parse_header.cc
  bool ParseHeaderAttribute();
  bool CheckAliasing();
  // parse_tables.cc
  bool ParseTables();
  void RebuildTables();

  Cursor& c_;
  Module& module_;
  ModuleScope scope_;
  uint32_t header_seen_ = 0;
  Loc alias_loc_;
  Computation* entry_ = nullptr;
  Computation* last_ = nullptr;
  StackTables written_tables_;
  bool propagation_written_ = false;  // some allow_spmd_sharding_propagation_to_… with values
  bool single_ = false;               // the text is one instruction

  /// A computation that starts a line further down in the text.
  struct Ahead {
    uint32_t begin = 0, end = 0;  // end: 0 until it has been read
    Computation* computation = nullptr;
    bool open = false;  // it is being read
  };
  llvm::StringMap<Ahead> ahead_;                    // by name; filled when first needed
  llvm::DenseMap<uint32_t, llvm::StringRef> read_;  // begin of what was read ahead -> its name
  bool has_ahead_ = false;
};

}  // namespace hlo
