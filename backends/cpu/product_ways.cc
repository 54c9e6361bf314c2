#include "backends/cpu/product_ways.h"

#include "backends/compile/kernel_config.h"
#include "backends/cpu/passes.h"
#include "backends/products/product.h"
#include "ir/support/json.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/analysis/fusion_facts.h"

namespace hlo::cpu {
namespace {

template <class... Args>
tl::unexpected<Diagnostic> Wrong(const Instruction& inst, const char* format, Args&&... args) {
  return Error("unsupported-path", inst.loc(), "%{0}: {1}", inst.name(),
               llvm::formatv(format, std::forward<Args>(args)...).str());
}

Result<const gemm::Way*> WayNamed(const Instruction& inst, llvm::StringRef name) {
  if (const gemm::Way* found = gemm::WayNamed(name)) return found;
  std::vector<std::string> names;
  for (const gemm::Way& known : gemm::Ways()) names.emplace_back(known.name);
  return Wrong(inst, "found the way '{0}' of a product, expected one of {1}", name, llvm::join(names, ", "));
}

/// Of `{"way":"…"}`, or of `{"way":["…", …]}` with one for each part.
Result<WaysOfParts> WaysOf(const Instruction& inst, const JsonValue& product) {
  const JsonValue* way = product.Find("way");
  llvm::SmallVector<llvm::StringRef, 1> names;
  bool good = way != nullptr && product.AsObject()->size() == 1;
  if (const auto name = good ? way->AsString() : std::nullopt) {
    names.push_back(*name);
  } else if (const auto* list = good ? way->AsArray() : nullptr) {
    for (const JsonValue& element : *list) {
      const std::optional<llvm::StringRef> part = element.AsString();
      good &= part.has_value();
      names.push_back(part.value_or(""));
    }
  }
  if (!good || names.empty())
    return Wrong(inst, "found {0} of a product, expected an object with a way", ToString(product));
  WaysOfParts ways;
  for (const llvm::StringRef name : names) {
    HLO_TRY(ways.emplace_back(), WayNamed(inst, name));
  }
  return ways;
}

/// Of the fusion of a chain, which computes some rows at a time.
bool IsInChain(const Instruction& inst) {
  const llvm::ArrayRef<Instruction*> callers = inst.parent()->callers();
  if (callers.size() != 1 || callers.front()->kind() != OpKind::Fusion) return false;
  const std::optional<compile::KernelConfig> config = compile::KernelConfigOf(*callers.front());
  return config && config->path == compile::KernelPath::Chain;
}

Status CheckWaysOf(const Instruction& inst, const gemm::Target& target) {
  HLO_TRY(const WaysOfParts ways, WrittenWays(inst));
  if (ways.empty()) return {};
  const auto does_not_apply = [&](const gemm::Way& way, llvm::StringRef why) {
    return Wrong(inst, "the way '{0}' of its product does not apply: {1}", way.name, why);
  };
  if (const std::string why = ObstacleToProduct(inst); !why.empty()) return does_not_apply(*ways[0], why);
  const std::vector<gemm::Problem> problems = ProblemsOf(inst);
  if (ways.size() > 1 && ways.size() != problems.size())
    return Wrong(inst, "found {0} ways of a product of {1} parts", ways.size(), problems.size());
  for (size_t i = 0; i < problems.size(); ++i) {
    const gemm::Way& way = *ways[ways.size() > 1 ? i : 0];
    if (const gemm::Fit fit = gemm::FitOf(way, problems[i], target); !fit.can())
      return does_not_apply(way, fit.why());
    if (IsInChain(inst) && !gemm::Product(problems[i], target, &way).RunsByRows())
      return does_not_apply(way, "part of a chain, which computes some rows at a time");
  }
  return {};
}

/// The ways that are best for all parts, once if it is the same; none if general loops are better.
WaysOfParts BestWays(const Instruction& inst, const gemm::Target& target) {
  if (!ObstacleToProduct(inst).empty()) return {};
  const std::vector<gemm::Problem> problems = ProblemsOf(inst);
  WaysOfParts ways;
  for (const gemm::Problem& problem : problems) {
    ways.push_back(IsInChain(inst) ? gemm::RowWay(problem, target)
                                   : gemm::SuitingWay(problem, target, /*libraries=*/problems.size() == 1));
    if (ways.back() == nullptr) return {};
  }
  if (llvm::all_equal(ways)) ways.resize(std::min<size_t>(ways.size(), 1));
  return ways;
}

/// Nothing stands there, or JSON that can have another member.
bool IsWritable(const Instruction& inst) {
  const llvm::StringRef text = inst.extras().backend_config;
  if (text.empty()) return true;
  const auto json = ParseJson(text);
  return json && json->AsObject() != nullptr;
}

void Write(Instruction& inst, const WaysOfParts& ways) {
  JsonValue config = ParseJson(inst.extras().backend_config).value_or(JsonValue(JsonObject()));
  config.Erase("product");
  if (!ways.empty()) {
    JsonArray names;
    for (const gemm::Way* way : ways) names.emplace_back(std::string(way->name));
    JsonValue product{JsonObject()};
    product.Set("way", names.size() == 1 ? std::move(names[0]) : JsonValue(std::move(names)));
    config.Set("product", std::move(product));
  }
  const bool empty = config.AsObject()->empty();
  inst.MutableExtras().backend_config = empty ? "" : inst.module()->Save(ToString(config));
}

/// Products that are computed as they stand: by themselves or in a chain.
bool HasProducts(const Computation& computation) {
  if (RunsOnWholeValues(computation)) return true;
  const Instruction* root = computation.root();
  return root != nullptr && IsInChain(*root);
}

Result<bool> RunProductWays(Module& module, const NoPassOptions&, PassContext& context) {
  const gemm::Target target = TargetOf(context);
  for (Computation* computation : context.Computations(module, /*with_fusions=*/true)) {
    if (!HasProducts(*computation)) continue;
    for (const OpKind kind : {OpKind::Dot, OpKind::Convolution})
      for (Instruction* inst : computation->InstructionsOf(kind)) {
        const Status written = CheckWaysOf(*inst, target);
        HLO_TRY(const WaysOfParts ways, WrittenWays(*inst));
        if (written && !ways.empty()) continue;
        const WaysOfParts best = BestWays(*inst, target);
        if (best == ways || !IsWritable(*inst) || !context.TakeRewrite()) continue;
        if (!written) {
          Diagnostic remark = written.error();
          remark.message += ", another is chosen";
          remark.severity = Severity::Remark;
          context.Report(std::move(remark));
        }
        Write(*inst, best);
      }
  }
  return context.rewrites() > 0;
}

}  // namespace

Result<WaysOfParts> WrittenWays(const Instruction& inst) {
  if (!inst.has_extras() || !inst.extras().backend_config.contains("\"product\"")) return WaysOfParts();
  const auto json = ParseJson(inst.extras().backend_config);
  const JsonValue* product = json ? json->Find("product") : nullptr;
  if (product == nullptr) return WaysOfParts();
  return WaysOf(inst, *product);
}

const gemm::Way* WrittenWay(const Instruction& dot) {
  const auto ways = WrittenWays(dot);
  return ways && !ways->empty() ? ways->front() : nullptr;
}

Status CheckWays(const Module& module, const gemm::Target& target) {
  for (const auto& computation : module.computations())
    for (const OpKind kind : {OpKind::Dot, OpKind::Convolution})
      for (const Instruction* inst : computation->InstructionsOf(kind))
        HLO_CHECK_OK(CheckWaysOf(*inst, target));
  return {};
}

HLO_DEFINE_PASS(ProductWays, NoPassOptions);

}  // namespace hlo::cpu
