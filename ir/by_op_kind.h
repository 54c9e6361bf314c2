// Tables indexed by opcode: what is done for some opcodes, in rows that name them.
#pragma once
#include <array>
#include <initializer_list>
#include <utility>

#include "ir/op.h"

namespace hlo {

inline constexpr size_t kOpKinds = 0
#define HLO_OP(...) +1
#include "ir/ops.def"
    ;

/// A value for each opcode: that of its row, or `other`. For behaviour that the op table has no column for,
/// as `static constexpr ByOpKind<Function*> kFunctions({{OpKind::Add, AddBoth}, …})`; looked up in one step.
template <class T>
class ByOpKind {
 public:
  constexpr ByOpKind(std::initializer_list<std::pair<OpKind, T>> rows, T other = {}) {
    values_.fill(other);
    for (const auto& [kind, value] : rows) values_[static_cast<size_t>(kind)] = value;
  }
  constexpr const T& operator[](OpKind kind) const { return values_[static_cast<size_t>(kind)]; }

 private:
  std::array<T, kOpKinds> values_{};
};

}  // namespace hlo
