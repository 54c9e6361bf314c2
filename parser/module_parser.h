// Parsing of whole texts: header, stack-frame tables, computations.
#pragma once
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
  bool single_ = false;  // the text is one instruction
};

}  // namespace hlo
