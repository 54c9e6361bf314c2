// Where an instruction comes from: metadata, origin, statistics, accuracy.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/shape.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// The `metadata={…}` of an instruction or sharding (hlo-text §5). Strings live as long as the
/// module (its arena or source text).
struct OpMetadata {
  llvm::StringRef op_type, op_name, source_file, deduplicated_name, scheduling_name, payload;
  int32_t source_line = 0, source_end_line = 0, source_column = 0, source_end_column = 0;
  int32_t stack_frame_id = 0;
  llvm::ArrayRef<int32_t> profile_type;  // 0-3 each; arena-owned
  llvm::StringRef unknown_fields;        // verbatim text of fields this version does not know
  bool operator==(const OpMetadata&) const = default;
};

/// One `name=number` of `statistics`.
struct Statistic {
  llvm::StringRef name;
  double value = 0;
};
struct Statistics {
  int64_t visualizing_index = 0;
  std::vector<Statistic> values;
};

/// `result_accuracy`.
struct ResultAccuracy {
  bool highest = false;  // mode=highest
  bool has_tolerance = false;
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  [[nodiscard]] bool is_default() const { return !highest && !has_tolerance; }
  bool operator==(const ResultAccuracy&) const = default;
};

/// `origin={…}`: a tree of original names; leaf: name (may be absent) and index.
struct Origin {
  bool synthetic_call = false;
  bool is_tuple = false;
  std::vector<Origin> elements;
  bool has_name = false;
  llvm::StringRef name;
  ShapeIndex index;
};

/// One `key="value"` or `key={json}` of frontend_attributes; kept sorted by key.
struct FrontendAttribute {
  llvm::StringRef key, value;
  bool operator==(const FrontendAttribute&) const = default;
};

}  // namespace hlo
