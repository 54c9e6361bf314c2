#include "backends/kernel/threads.h"

#include "backends/kernel/visit.h"

namespace hlo::kernel {
namespace {

constexpr llvm::StringLiteral kBindings[] = {"",         "block.x",  "block.y",  "block.z",
                                             "thread.x", "thread.y", "thread.z", "lane"};
constexpr llvm::StringLiteral kModes[] = {"up", "down", "xor", "index"};

struct AtomicRow {
  llvm::StringLiteral text;
  std::optional<OpKind> op;
  bool floats, halves;  // beside integers of 32 and 64 bits
};
constexpr AtomicRow kAtomics[] = {
    {"add", OpKind::Add, true, true},         {"multiply", OpKind::Multiply, true, true},
    {"maximum", OpKind::Maximum, true, true}, {"minimum", OpKind::Minimum, true, true},
    {"and", OpKind::And, false, false},       {"or", OpKind::Or, false, false},
    {"xor", OpKind::Xor, false, false},       {"exchange", {}, true, false},
    {"compare-exchange", {}, true, false},
};

template <class Enum, class Table>
std::optional<Enum> Find(const Table& table, llvm::StringRef text) {
  for (size_t i = 0; i < std::size(table); ++i)
    if (table[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

/// What of a statement is for threads only; empty if nothing is.
std::string ForThreads(const Stmt& stmt) {
  if (const auto* loop = std::get_if<LoopStmt>(&stmt); loop != nullptr && loop->loop.binding != Binding::None)
    return llvm::formatv("i{0} is bound to {1}", loop->loop.id, ToString(loop->loop.binding)).str();
  if (std::holds_alternative<BarrierStmt>(stmt)) return "it has a barrier";
  if (const auto* atomic = std::get_if<AtomicStmt>(&stmt))
    return ("it has an atomic " + ToString(atomic->op)).str();
  if (std::holds_alternative<ShuffleStmt>(stmt)) return "it has a shuffle";
  if (std::holds_alternative<LaneReduceStmt>(stmt)) return "it has a lane-reduce";
  if (std::holds_alternative<LoadMatrixStmt>(stmt)) return "it has a load-matrix";
  if (std::holds_alternative<MultiplyMatrixStmt>(stmt)) return "it has a multiply-matrix";
  if (std::holds_alternative<CopyStmt>(stmt)) return "it has a copy";
  if (std::holds_alternative<CommitCopiesStmt>(stmt) || std::holds_alternative<WaitForCopiesStmt>(stmt))
    return "it waits for copies";
  return "";
}

std::string ForThreads(const Kernel& kernel) {
  for (size_t i = 0; i < kernel.buffers.size(); ++i)
    if (kernel.buffers[i].space == Space::Shared) return "b" + std::to_string(i) + " is shared";
  std::string found;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    if (found.empty()) found = ForThreads(stmt);
  });
  return found;
}

}  // namespace

llvm::StringRef ToString(Binding binding) { return kBindings[static_cast<size_t>(binding)]; }
std::optional<Binding> ParseBinding(llvm::StringRef text) {
  return text.empty() ? std::nullopt : Find<Binding>(kBindings, text);
}

llvm::StringRef ToString(AtomicOp op) { return kAtomics[static_cast<size_t>(op)].text; }
std::optional<AtomicOp> ParseAtomicOp(llvm::StringRef text) {
  for (size_t i = 0; i < std::size(kAtomics); ++i)
    if (kAtomics[i].text == text) return static_cast<AtomicOp>(i);
  return std::nullopt;
}
std::optional<OpKind> OperationOf(AtomicOp op) { return kAtomics[static_cast<size_t>(op)].op; }
bool MayBeAtomic(AtomicOp op, ElementType type) {
  const AtomicRow& row = kAtomics[static_cast<size_t>(op)];
  const int bits = Info(type).bits;
  if (type == ElementType::F16 || type == ElementType::BF16) return row.halves;
  if (bits != 32 && bits != 64) return false;
  return IsIntegral(type) || (IsFloat(type) && row.floats);
}

llvm::StringRef ToString(ShuffleMode mode) { return kModes[static_cast<size_t>(mode)]; }
std::optional<ShuffleMode> ParseShuffleMode(llvm::StringRef text) { return Find<ShuffleMode>(kModes, text); }

bool IsSection(const LoopStmt& loop) {
  if (loop.loop.when < 0) return false;
  bool threads = false;
  ForEachStmt(*loop.body, [&](const Stmt& stmt) {
    const auto* inner = std::get_if<LoopStmt>(&stmt);
    threads |= inner != nullptr && IsThread(inner->loop.binding);
  });
  return threads;
}

namespace {

void Enlarge(BlockShape& shape, const Dimension& d) {
  constexpr int64_t kBeyondAll = 1 << 14;  // far more than kMaxThreads, and no product of four overflows
  if (!IsThread(d.binding)) return;
  int64_t& extent = shape.extents[DirectionOf(d.binding)];
  extent = std::max(extent, std::min(d.extent, kBeyondAll));
}

}  // namespace

BlockShape ShapeOfThreads(const Region& region) {
  BlockShape shape;
  ForEachStmt(region, [&](const Stmt& stmt) {
    if (const auto* loop = std::get_if<LoopStmt>(&stmt)) Enlarge(shape, loop->loop);
  });
  return shape;
}

BlockShape ShapeOfBlocks(const Kernel& kernel) {
  int64_t most = 0;  // threads of a section
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    const auto* loop = std::get_if<LoopStmt>(&stmt);
    if (loop != nullptr && IsSection(*loop)) most = std::max(most, ShapeOfThreads(*loop->body).count());
  });
  return most == 0 ? ShapeOfThreads(kernel.body) : BlockShape{{1, most, 1, 1}};
}

std::array<int64_t, 3> ShapeOfGrid(const Kernel& kernel) {
  std::array<int64_t, 3> grid = {1, 1, 1};
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    const auto* loop = std::get_if<LoopStmt>(&stmt);
    if (loop == nullptr || !IsBlock(loop->loop.binding)) return;
    grid[static_cast<size_t>(loop->loop.binding) - static_cast<size_t>(Binding::BlockX)] = loop->loop.extent;
  });
  return grid;
}

bool UsesThreads(const Kernel& kernel) { return !ForThreads(kernel).empty(); }

Status CheckWithoutThreads(const Kernel& kernel) {
  const std::string found = ForThreads(kernel);
  if (found.empty()) return {};
  return Decline({}, "{0}: there are no blocks and threads here", found);
}

}  // namespace hlo::kernel
