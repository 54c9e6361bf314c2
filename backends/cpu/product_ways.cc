#include "backends/cpu/product_ways.h"

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

Result<const gemm::Way*> WayOf(const Instruction& inst, const JsonValue& product) {
  const JsonValue* way = product.Find("way");
  const std::optional<llvm::StringRef> name = way != nullptr ? way->AsString() : std::nullopt;
  if (!name || product.AsObject()->size() != 1)
    return Wrong(inst, "found {0} of a product, expected an object with a way", ToString(product));
  if (const gemm::Way* found = gemm::WayNamed(*name)) return found;
  std::vector<std::string> names;
  for (const gemm::Way& known : gemm::Ways()) names.emplace_back(known.name);
  return Wrong(inst, "found the way '{0}' of a product, expected one of {1}", *name, llvm::join(names, ", "));
}

Status CheckWay(const Instruction& inst, const gemm::Target& target) {
  HLO_TRY(const gemm::Way* way, WrittenWay(inst));
  if (way == nullptr) return {};
  std::string why = ObstacleToProduct(inst);
  if (why.empty())
    for (const gemm::Problem& problem : ProblemsOf(inst))
      if (const gemm::Fit fit = gemm::FitOf(*way, problem, target); !fit.can() && why.empty())
        why = fit.why();
  if (why.empty()) return {};
  return Wrong(inst, "the way '{0}' of its product does not apply: {1}", way->name, why);
}

/// The one way that is best for all parts; null if parts take several, or general loops are better.
const gemm::Way* BestWay(const Instruction& inst, const gemm::Target& target) {
  if (!ObstacleToProduct(inst).empty()) return nullptr;
  const std::vector<gemm::Problem> problems = ProblemsOf(inst);
  const gemm::Way* best = nullptr;
  for (const gemm::Problem& problem : problems) {
    const gemm::Way* way = gemm::SuitingWay(problem, target, /*libraries=*/problems.size() == 1);
    if (way == nullptr || (best != nullptr && way != best)) return nullptr;
    best = way;
  }
  return best;
}

/// Nothing stands there, or JSON that can have another member.
bool IsWritable(const Instruction& inst) {
  const llvm::StringRef text = inst.extras().backend_config;
  if (text.empty()) return true;
  const auto json = ParseJson(text);
  return json && json->AsObject() != nullptr;
}

void Write(Instruction& inst, const gemm::Way* way) {
  JsonValue config = ParseJson(inst.extras().backend_config).value_or(JsonValue(JsonObject()));
  config.Erase("product");
  if (way != nullptr) {
    JsonValue product{JsonObject()};
    product.Set("way", JsonValue(std::string(way->name)));
    config.Set("product", std::move(product));
  }
  const bool empty = config.AsObject()->empty();
  inst.MutableExtras().backend_config = empty ? "" : inst.module()->Save(ToString(config));
}

Result<bool> RunProductWays(Module& module, const NoPassOptions&, PassContext& context) {
  const gemm::Target target = TargetOf(context);
  for (Computation* computation : context.Computations(module)) {
    if (!RunsOnWholeValues(*computation)) continue;
    for (const OpKind kind : {OpKind::Dot, OpKind::Convolution})
      for (Instruction* inst : computation->InstructionsOf(kind)) {
        const Status written = CheckWay(*inst, target);
        HLO_TRY(const gemm::Way* way, WrittenWay(*inst));
        if (written && way != nullptr) continue;
        const gemm::Way* best = BestWay(*inst, target);
        if (best == way || !IsWritable(*inst) || !context.TakeRewrite()) continue;
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

Result<const gemm::Way*> WrittenWay(const Instruction& inst) {
  if (!inst.has_extras() || !inst.extras().backend_config.contains("\"product\"")) return nullptr;
  const auto json = ParseJson(inst.extras().backend_config);
  const JsonValue* product = json ? json->Find("product") : nullptr;
  if (product == nullptr) return nullptr;
  return WayOf(inst, *product);
}

Status CheckWays(const Module& module, const gemm::Target& target) {
  for (const auto& computation : module.computations())
    for (const OpKind kind : {OpKind::Dot, OpKind::Convolution})
      for (const Instruction* inst : computation->InstructionsOf(kind)) HLO_CHECK_OK(CheckWay(*inst, target));
  return {};
}

HLO_DEFINE_PASS(ProductWays, NoPassOptions);

}  // namespace hlo::cpu
