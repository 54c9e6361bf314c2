// What is fetched from memory before it is wanted, where processors do not foresee it.
#include "backends/kernel/visit.h"
#include "backends/llvm/kernel_emitter.h"
#include "llvm/IR/Intrinsics.h"

namespace hlo::codegen {

using kernel::Dimension;
using kernel::ReduceStmt;
using llvm::Value;

namespace {

/// Of an ordered loop around one that goes along rows: a load from the row that its other statements tell, if
/// that is in what the kernel writes, and in an array of which rows are fetched; else null.
const kernel::LoadStmt* FindRow(const kernel::Kernel& kernel, const kernel::LoopStmt& ordered,
                                const CodeTarget::Memory& memory) {
  const auto written = [&](kernel::BufferId id) { return kernel.buffers[static_cast<size_t>(id)].written; };
  const llvm::ArrayRef<kernel::Stmt> stmts(ordered.body->stmts);
  const auto* inner = stmts.empty() ? nullptr : std::get_if<kernel::LoopStmt>(&stmts.back());
  if (inner == nullptr || inner->loop.ordered) return nullptr;
  for (const kernel::Stmt& stmt : stmts.drop_back()) {
    const auto* load = std::get_if<kernel::LoadStmt>(&stmt);
    if (load != nullptr ? load->mask >= 0 || written(load->buffer) : kernel::ResultOf(stmt) < 0)
      return nullptr;
  }
  for (const kernel::Stmt& stmt : inner->body->stmts) {
    const auto* load = std::get_if<kernel::LoadStmt>(&stmt);
    if (load == nullptr || !written(load->buffer) || load->address.values.empty()) continue;
    const kernel::Buffer& buffer = kernel.buffers[static_cast<size_t>(load->buffer)];
    if (load->address.FactorOf(inner->loop.id) == 1 &&
        buffer.count * Info(buffer.type).host_bytes() >= memory.fetched)
      return load;
  }
  return nullptr;
}

}  // namespace

void KernelEmitter::Fetch(Value* pointer, int64_t bytes, bool write, bool far) {
  constexpr uint32_t kKeep = 3, kKeepFar = 2, kData = 1;
  Value* at = b_.CreateGEP(b_.getInt8Ty(), pointer, Int64(bytes));
  b_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {at->getType()},
      {at, b_.getInt32(write ? 1 : 0), b_.getInt32(far ? kKeepFar : kKeep), b_.getInt32(kData)});
}

Status KernelEmitter::FetchRowsToCome(const kernel::LoopStmt& stmt, Range range) {
  const CodeTarget::Memory& memory = target_.facts().memory;
  const kernel::LoadStmt* row = FindRow(kernel_, stmt, memory);
  if (row == nullptr) return {};
  const Dimension& along = std::get<kernel::LoopStmt>(stmt.body->stmts.back()).loop;
  Value*& number = loop_values_[static_cast<size_t>(stmt.loop.id)];
  Value* now = number;
  number = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(now, Int64(memory.rows_ahead)),
                                    b_.CreateSub(range.end, Int64(1)));
  loop_values_[static_cast<size_t>(along.id)] = Int64(0);
  for (const kernel::Stmt& before : llvm::ArrayRef(stmt.body->stmts).drop_back())
    HLO_CHECK_OK(std::visit([&](const auto& s) { return Emit(s); }, before));
  const int64_t bytes = Info(kernel_.buffers[static_cast<size_t>(row->buffer)].type).host_bytes();
  Value* begin = Pointer(row->buffer, PlaceOf(row->address).scalar);
  const int64_t lines = std::min((along.extent * bytes + memory.line - 1) / memory.line, memory.row_lines);
  for (int64_t line = 0; line < lines; ++line) Fetch(begin, line * memory.line, /*write=*/true);
  number = now;
  return {};
}

void KernelEmitter::FetchWindowsToCome(const ReduceStmt& stmt) {
  const CodeTarget::Memory& memory = target_.facts().memory;
  if (!in_vector() || around_.empty()) return;
  for (const kernel::Stmt& inner : stmt.body->stmts) {
    const auto* load = std::get_if<kernel::LoadStmt>(&inner);
    if (load == nullptr || !load->address.values.empty() || load->address.FactorOf(vector_.loop) != 1)
      continue;
    const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(load->buffer)];
    const int64_t bytes = Info(buffer.type).host_bytes();
    const int64_t step = StepAround(load->address) * bytes;
    if (buffer.written || buffer.count * bytes < memory.fetched || step < memory.line ||
        step > memory.window_step)
      continue;
    loop_values_[static_cast<size_t>(stmt.loops.back().id)] = Int64(0);
    Value* begin = Pointer(load->buffer, PlaceOf(load->address).scalar);
    for (int64_t line = 0; line < step; line += memory.line)
      Fetch(begin, memory.windows_ahead + line, /*write=*/false);
  }
}

int64_t KernelEmitter::StepAround(const kernel::Address& address) const {
  return around_.empty() ? 0 : address.FactorOf(around_.back().id) * around_.back().step;
}

void KernelEmitter::FetchNextRow(const kernel::LoadStmt& load, Value* pointer) {
  const CodeTarget::Memory& memory = target_.facts().memory;
  const kernel::Buffer& buffer = kernel_.buffers[static_cast<size_t>(load.buffer)];
  const int64_t bytes = Info(buffer.type).host_bytes(), step = StepAround(load.address) * bytes;
  if (buffer.written || buffer.count * bytes < memory.fetched || step < 2 * memory.line ||
      !load.address.values.empty())
    return;
  const int64_t vector = vector_.width * bytes;
  // A block of rows is folded while the next one comes.
  if (tile_ != nullptr && around_.back().ordered) {
    for (int64_t line = 0; line < vector; line += memory.line)
      Fetch(pointer, step + line, /*write=*/false, /*far=*/true);
    return;
  }
  if (step > memory.longest_row) return;
  kernel::Address row = load.address;
  row.AddLoop(vector_.loop, -row.FactorOf(vector_.loop));
  auto pass = llvm::find_if(passes_, [&](const Pass& p) { return p.buffer == load.buffer && p.row == row; });
  if (pass == passes_.end()) {
    passes_.push_back({load.buffer, row, vector_.loop});
    return;
  }
  if (pass->second < 0 && pass->first != vector_.loop) pass->second = vector_.loop;
  if (pass->second != vector_.loop) return;
  if (group_ * vector % memory.line != 0) return;
  for (int64_t line = 0; line < vector; line += memory.line) Fetch(pointer, step + line, /*write=*/false);
}

}  // namespace hlo::codegen
