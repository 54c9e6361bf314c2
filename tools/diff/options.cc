#include "tools/diff/options.h"

namespace hlo {
namespace {

using D = HloDiffOptions;

std::vector<llvm::StringRef> FormatWords() {
  std::vector<llvm::StringRef> words;
  for (const DiffFormatInfo& format : AllDiffFormats()) words.push_back(format.word);
  return words;
}
std::vector<llvm::StringRef> KindWords() {
  std::vector<llvm::StringRef> words;
  for (const DiffKind kind :
       {DiffKind::Moved, DiffKind::Changed, DiffKind::Removed, DiffKind::Added, DiffKind::Unchanged})
    words.push_back(ToString(kind));
  return words;
}

/// A row whose setter adds words to the ignored properties, or removes them.
template <bool kIgnore>
constexpr OptionRow IgnoreRow(llvm::StringRef name, llvm::StringRef default_text, llvm::StringRef help) {
  const OptionRow row = {name,
                         "LIST",
                         default_text,
                         help,
                         [](void* object, const OptionUse& use) {
                           return ParseIgnored(use, static_cast<D*>(object)->compare.ignored, kIgnore);
                         },
                         OptionArity::Value};
  return row.ListOf(&internal::EnumerationWords<DiffProperty>);
}

/// A row for a member of one of the structs within HloDiffOptions.
template <auto kStruct, auto kMember>
constexpr OptionRow Nested(llvm::StringRef name, llvm::StringRef argument, llvm::StringRef default_text,
                           llvm::StringRef help) {
  OptionRow row = Option<kMember>(name, argument, default_text, help);
  row.set = [](void* object, const OptionUse& use) {
    return ParseOption(use, static_cast<D*>(object)->*kStruct.*kMember);
  };
  return row;
}

constexpr OptionRow kComparisonRows[] = {
    Option<&D::mode>("mode", "MODE", "semantic",
                     "semantic: as graphs; canonical, text: line by line, as printed with canonical names or "
                     "plainly"),
    IgnoreRow<true>("ignore", "names,metadata",
                    "also ignore these: metadata, names, layout, shape, sharding, backend-config, "
                    "frontend-attributes, constants, schedule, control-deps, memory-space, precision, "
                    "channel-id"),
    IgnoreRow<false>("no-ignore", "", "compare these after all"),
    Option<&D::inlined>(
        "inline", "WHAT", "none",
        "compare as if inlined: fusion, call or all; do two fusion decisions compute the same?"),
    Option<&D::map>("map", "OLD=NEW", "", "these instructions (or computations) correspond; repeatable"),
    Nested<&D::compare, &DiffOptions::strict_order>("strict-order", "", "off",
                                                    "operands of commutative operations have an order"),
    Nested<&D::compare, &DiffOptions::max_effort>("max-effort", "N", "200000000",
                                                  "steps after which matching gets cheaper")
        .Advanced(),
};
constexpr OptionRow kReportRows[] = {
    Option<&D::only>("only", "LIST", "all",
                     "show only these kinds: moved, changed, removed, added, unchanged")
        .ListOf(&KindWords),
    Option<&D::opcode>("opcode", "RE", "", "show only such opcodes"),
    Option<&D::computation>("computation", "RE", "", "show only what stands in such computations"),
    Option<&D::filter_exit>("filter-exit", "", "off", "the exit code tells of what is shown only"),
    Nested<&D::report, &DiffReportOptions::context>("context", "N", "1",
                                                    "unchanged neighbours shown around a change"),
    Option<&D::max_entries>("max-entries", "N", "50, dot 20", "entries shown per kind; 0: all"),
    Nested<&D::report, &DiffReportOptions::group>("group", "", "on",
                                                  "show changes that repeat once, with their number"),
    Nested<&D::report, &DiffReportOptions::show_renames>("show-renames", "", "off",
                                                         "show unchanged instructions that have a new name"),
    Option<&D::exit_code>("exit-code", "", "on", "exit 1 if the modules differ"),
};
constexpr OptionRow kBesidesRows[] = {
    Option<&D::cost>("cost", "", "off", "append the change of FLOPs, bytes, planned memory and kernels"),
    Option<&D::verify_equivalence>("verify-equivalence", "", "off",
                                   "if graphs differ, run both on the same fake data and append the verdict"),
    Option<&D::accept_equivalent>("accept-equivalent", "", "off",
                                  "with --verify-equivalence: exit 0 if the results agree"),
    Option<&D::series>("series", "DIR", "", "compare the consecutive dumps of a dump directory"),
    Option<&D::find>("find", "EXPR", "",
                     "with --series: where an opcode, a name (RE) or opcode=RE,shape=RE,name=RE appears or "
                     "disappears"),
};
constexpr OptionRow kOutputRows[] = {
    Option<&D::output>("output", "FILE", "-", "main output; `-` is standard output").Letter('o'),
    Option<&D::output_format>("output-format", "FORMAT", "extension of -o, else text",
                              "text, summary, side-by-side, json, dot, html")
        .Letter('T')
        .Words(&FormatWords),
    Option<&D::text_output>("text-output", "FILE", "", "also write text there").Advanced(),
    Option<&D::html_output>("html-output", "FILE", "", "also write html there").Advanced(),
    Nested<&D::report, &DiffReportOptions::json_indent>("json-indent", "N", "0",
                                                        "spaces per level of JSON output")
        .Advanced(),
};

// Inputs as XLA's tool names them.
constexpr OptionRow kInputRows[] = {
    Option<&D::first_hlo_text>("first-hlo-text", "FILE", "", "OLD, as HLO text"),
    Option<&D::second_hlo_text>("second-hlo-text", "FILE", "", "NEW, as HLO text"),
    Option<&D::first_hlo_proto>("first-hlo-proto", "FILE", "", "OLD, as HloProto"),
    Option<&D::second_hlo_proto>("second-hlo-proto", "FILE", "", "NEW, as HloProto"),
    Option<&D::first_hlo_module_proto>("first-hlo-module-proto", "FILE", "", "OLD, as HloModuleProto"),
    Option<&D::second_hlo_module_proto>("second-hlo-module-proto", "FILE", "", "NEW, as HloModuleProto"),
    Option<&D::first_hlo_snapshot>("first-hlo-snapshot", "FILE", "", "OLD, as HloSnapshot"),
    Option<&D::second_hlo_snapshot>("second-hlo-snapshot", "FILE", "", "NEW, as HloSnapshot"),
};

constexpr OptionAlias kAliases[] = {
    {"ignore-metadata", "ignore", "metadata"},
    {"ignore-names", "ignore", "names"},
    {"ignore-layout", "ignore", "layout"},
    {"ignore-shape", "ignore", "shape"},
    {"ignore-sharding", "ignore", "sharding"},
    {"ignore-backend-config", "ignore", "backend-config"},
    {"ignore-frontend-attributes", "ignore", "frontend-attributes"},
    {"ignore-constants", "ignore", "constants"},
    {"ignore-schedule", "ignore", "schedule"},
    {"ignore-control-deps", "ignore", "control-deps"},
    {"ignore-memory-space", "ignore", "memory-space"},
    {"ignore-precision", "ignore", "precision"},
    {"ignore-channel-id", "ignore", "channel-id"},
    {"format", "input-format"},
    {"debug_options_file", "config"},
};

constexpr OptionRelation kNeeds[] = {
    {"find", "series"},
    {"accept-equivalent", "verify-equivalence"},
    {"filter-exit", "only|opcode|computation"},
};
constexpr OptionRelation kExcludes[] = {
    // Lines have no kinds, costs and counterparts.
    {"mode=text|mode=canonical",
     "map|strict-order|max-effort|only|opcode|computation|filter-exit|group|max-entries|show-renames|cost|"
     "verify-equivalence|series"},
    {"series", "map|cost|verify-equivalence|text-output|html-output"},
};

constexpr llvm::StringRef kExamples[] = {
    "hlo-diff before.hlo after.hlo",
    "hlo-diff --ignore=layout,sharding --only=added,removed before.hlo after.hlo",
    "hlo-diff --inline=all --output-format=summary fused_one_way.hlo fused_another_way.hlo",
    "hlo-diff --cost -o diff.html before.hlo after.hlo",
    "hlo-diff --series /tmp/dump --find=opcode=fusion",
};

}  // namespace

const ToolInfo kHloDiff = {"hlo-diff",
                           "shows what differs between two HLO modules as graphs",
                           "[options] OLD NEW | [options] --series DIR [--module NAME]",
                           kAliases,
                           {},
                           kExamples,
                           kNeeds,
                           kExcludes};

Status ParseIgnored(const OptionUse& use, uint32_t& ignored, bool ignore) {
  NameList words;
  HLO_CHECK_OK(ParseOption(use, words));
  for (const std::string& word : words.items) {
    DiffProperty property{};
    std::string dashed = word;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    HLO_CHECK_OK(ParseOption({use.option, dashed}, property));
    const uint32_t bit = 1u << static_cast<int>(property);
    ignored = ignore ? ignored | bit : ignored & ~bit;
  }
  return {};
}

std::vector<OptionGroup> DiffGroups(HloDiffOptions& options) {
  return {{"Comparison", kComparisonRows, &options},
          {"Report", kReportRows, &options},
          {"Beyond one comparison", kBesidesRows, &options},
          {"XLA's inputs", kInputRows, &options, /*advanced=*/true},
          {"Output", kOutputRows, &options}};
}

}  // namespace hlo
