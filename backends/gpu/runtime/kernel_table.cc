#include "backends/gpu/runtime/kernel_table.h"

#include "backends/gpu/codegen/nvptx_target.h"
#include "backends/kernel/threads.h"
#include "backends/kernel/visit.h"
#include "backends/llvm/emit_kernel.h"
#include "ir/support/binary.h"
#include "ir/support/parallel.h"

namespace hlo::gpu {
namespace {

/// Enough that modules are few, and few enough that threads make them side by side.
constexpr size_t kKernelsOfModule = 16;

llvm::SmallBitVector LoadedBuffers(const kernel::Kernel& kernel) {
  llvm::SmallBitVector loaded(static_cast<unsigned>(kernel.buffers.size()));
  kernel::ForEachStmt(kernel.body, [&](const kernel::Stmt& stmt) {
    if (const auto* load = std::get_if<kernel::LoadStmt>(&stmt))
      loaded.set(static_cast<unsigned>(load->buffer));
    if (const auto* copy = std::get_if<kernel::CopyStmt>(&stmt))
      loaded.set(static_cast<unsigned>(copy->from));
  });
  return loaded;
}

/// The arrays that the kernel reads while it writes into bytes of them, with those that it writes there.
llvm::SmallBitVector OverlapOf(const kernel::Kernel& kernel, const compile::KernelCall& call) {
  const llvm::SmallBitVector loaded = LoadedBuffers(kernel);
  llvm::SmallBitVector overlap(static_cast<unsigned>(loaded.size()));
  for (size_t i = 0; i < call.first_result; ++i)
    for (size_t result = call.first_result; result < call.buffers.size(); ++result)
      if (loaded[static_cast<unsigned>(i)] && call.buffers[i].Overlaps(call.buffers[result])) {
        overlap.set(static_cast<unsigned>(i));
        overlap.set(static_cast<unsigned>(result));
      }
  return overlap;
}

}  // namespace

template <class A>
void Archive(A& a, KernelEntry& v) {
  ArchiveAll(a, v.name, v.module, v.arguments);
  for (std::array<unsigned, 3>* extents : {&v.grid, &v.block})
    for (unsigned& extent : *extents) {
      uint64_t wide = extent;
      hlo::Archive(a, wide);
      extent = static_cast<unsigned>(wide);
    }
}

Status KernelTable::Check(const kernel::Kernel& kernel) const {
  return codegen::CheckKernel(kernel, &NvptxTarget());
}

int64_t KernelTable::Grain(const kernel::Kernel& kernel) const { return codegen::ParallelGrain(kernel); }

Result<int32_t> KernelTable::Add(kernel::Kernel kernel) {
  HLO_CHECK_OK(Check(kernel));
  const auto [number, added] = numbers_.Of(kernel);
  if (added) kernels_.push_back(std::move(kernel));
  return number;
}

Result<PtxModule*> KernelTable::Open() {
  if (open_.empty() || in_last_ == kKernelsOfModule) {
    HLO_TRY(PtxModule module, PtxModule::Create(target_));
    open_.push_back(std::move(module));
    in_last_ = 0;
  }
  return &open_.back();
}

Result<int32_t> KernelTable::Make(const compile::KernelCall& call, bool tells) {
  kernel::Kernel& kernel = kernels_[static_cast<size_t>(call.kernel)];
  llvm::SmallBitVector overlap = OverlapOf(kernel, call);
  // A barrier changes what a thread sees there.
  for (size_t i = call.first_result; tells && i < call.buffers.size(); ++i)
    overlap.set(static_cast<unsigned>(i));
  std::vector<bool> key;
  for (unsigned i = 0; overlap.any() && i < overlap.size(); ++i) key.push_back(overlap[i]);
  const auto [it, added] = made_.try_emplace({call.kernel, std::move(key)}, -1);
  if (!added) return it->second;
  HLO_TRY(PtxModule* const module, Open());
  const auto number = static_cast<int32_t>(entries_.size());
  const std::string whole = kernel.name;
  KernelEntry entry;
  entry.name = SymbolFor("k" + std::to_string(number) + "_" + whole);
  kernel.name = entry.name;
  const Status made = module->Add(kernel, overlap);
  kernel.name = whole;
  if (!made) return it->second = Error(made.error());
  ++in_last_;
  entry.module = static_cast<int32_t>(open_.size()) - 1;
  const std::array<int64_t, 3> grid = kernel::ShapeOfGrid(kernel);
  const auto [lanes, x, y, z] = kernel::ShapeOfBlocks(kernel).extents;
  const std::array<int64_t, 3> block = {x * lanes, y, z};
  for (size_t i = 0; i < grid.size(); ++i) {
    entry.grid[i] = static_cast<unsigned>(grid[i]);
    entry.block[i] = static_cast<unsigned>(block[i]);
  }
  for (size_t i = 0; i < kernel.buffers.size(); ++i)
    if (kernel.buffers[i].space == kernel::Space::Global) entry.arguments.push_back(static_cast<int32_t>(i));
  entries_.push_back(std::move(entry));
  return it->second = number;
}

Status KernelTable::Finish() {
  ptx_.resize(open_.size());
  std::vector<Status> printed(open_.size());
  ParallelFor(0, static_cast<int64_t>(open_.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      Result<std::string> text = open_[i].Print(PtxForm::Ptx);
      if (text)
        ptx_[i] = std::move(*text);
      else
        printed[i] = Error(text.error());
    }
  });
  for (Status& status : printed) HLO_CHECK_OK(std::move(status));
  open_.clear();
  kernels_.clear();
  return {};
}

std::string KernelTable::ToBinary() const {
  BinaryWriter writer;
  auto& self = const_cast<KernelTable&>(*this);  // which a writer leaves as it is
  ArchiveAll(writer, self.entries_, self.ptx_);
  return std::move(writer).Take();
}

bool KernelTable::Restore(llvm::StringRef bytes) {
  BinaryReader reader(bytes);
  ArchiveAll(reader, entries_, ptx_);
  const auto fits = [&](const KernelEntry& entry) {
    return entry.module >= 0 && static_cast<size_t>(entry.module) < ptx_.size();
  };
  return !reader.failed() && reader.at_end() && llvm::all_of(entries_, fits);
}

}  // namespace hlo::gpu
