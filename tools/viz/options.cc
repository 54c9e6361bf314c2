#include "tools/viz/options.h"

namespace hlo {
namespace {

using V = VizOptions;

std::vector<llvm::StringRef> ListWords() { return {"computations", "instructions"}; }

constexpr OptionRow kSelectionRows[] = {
    Option<&V::computation>("computation", "NAME", "entry", "draw this computation"),
    Option<&V::all_computations>("all-computations", "", "", "draw all of them"),
    Option<&V::around>("around", "NAME[,N]", "", "only what is within N=2 steps of NAME; repeatable"),
    Option<&V::boundary>("boundary", "LIST", "", "with --around: instructions to stop at"),
    Option<&V::paths>("paths", "A,B[,MAX]", "",
                      "only what lies on paths between A and B, shortest first, MAX=100 nodes at most"),
    Option<&V::slice>("slice", "DIRECTION:NAME", "",
                      "only what depends on NAME (forward) or what it needs (backward)"),
    Option<&V::select>("select", "EXPR", "",
                       "only matches of opcode=, name=, shape=, op_name=, source= followed by a regular "
                       "expression; joined by commas"),
    Option<&V::context>("context", "N", "0", "with --select: and what is within N steps of them"),
    Option<&V::expand>(
        "expand", "LIST", "fusion",
        "called computations drawn inside: fusion, while, conditional, call, reduce, none, all")
        .ListOf(&VizExpandWords),
};
constexpr OptionRow kDrawingRows[] = {
    Option<&V::group_by>("group-by", "WHAT", "computation; html: op-name",
                         "computation, op-name, source, schedule, device or none"),
    Option<&V::max_nodes>("max-nodes", "N", "400; html: all", "collapse groups of larger drawings; 0: never"),
    Option<&V::layout_timeout>("layout-timeout", "DURATION", "20s",
                               "computing time for the layout of svg, png, pdf; then it becomes simpler"),
    Option<&V::color_by>("color-by", "WHAT", "opcode",
                         "opcode, type, sharding, memory (space), computation or none"),
    Option<&V::show>("show", "LIST", "shape,layout,control,constants",
                     "show more: shape, layout, metadata, backend-config, sharding, control, constants, "
                     "schedule, bytes")
        .ListOf(&VizPartWords),
    Option<&V::hide>("hide", "LIST", "", "show less").ListOf(&VizPartWords),
};
constexpr OptionRow kOverlayRows[] = {
    Option<&V::heat>("heat", "FILE|static", "",
                     "colour by the costs of a profile (hlo-run --profile-out), or static ones"),
    Option<&V::heat_metric>("heat-metric", "METRIC", "time; static: flops",
                            "time, bytes, flops, roofline or memory"),
    Option<&V::diff>("diff", "FILE", "", "mark what a comparison (hlo-diff -T json) found"),
    Option<&V::values>("values", "FILE", "", "mark what differs in a run (hlo-run --result-json)"),
};
constexpr OptionRow kTextRows[] = {
    Option<&V::list>("list", "WHAT", "", "computations, or instructions[=RE], as text").Words(&ListWords),
    Option<&V::info>("info", "NAME", "", "an instruction with operands, users, callers and stack, as text"),
};
constexpr OptionRow kOutputRows[] = {
    Option<&CommonOptions::output>("output", "FILE", "-", "main output; `-` is standard output").Letter('o'),
    Option<&CommonOptions::output_format>("output-format", "FORMAT", "extension of -o",
                                          "dot, svg, png, pdf, html or json (hlo.graph/1)")
        .Letter('T')
        .Words(&VizFormatWords),
    Option<&V::json_indent>("json-indent", "N", "0", "spaces per level of JSON output").Advanced(),
};

constexpr OptionAlias kAliases[] = {
    {"format", "input-format"},
    {"debug_options_file", "config"},
    {"xla_hlo_graph_sharding_color", "color-by", "sharding"},
};

constexpr UnavailableOption kUnavailableOptions[] = {
    {"interactive", "the interactive mode", /*flag=*/true},
};

constexpr OptionRelation kNeeds[] = {
    {"boundary", "around"},
    {"context", "select"},
    {"heat-metric", "heat"},
};
constexpr OptionRelation kExcludes[] = {
    {"list", "info"},
    {"list|info", "heat|diff|values|output-format"},
    {"computation", "all-computations"},
};

constexpr llvm::StringRef kExamples[] = {
    "hlo-viz m.hlo -o m.svg",
    "hlo-viz --around=dot.3,2 m.hlo -o neighbours.png",
    "hlo-viz --select='opcode=dot|convolution' --context=1 m.hlo -o products.svg",
    "hlo-run --profile --profile-out=p.json m.hlo && hlo-viz --heat=p.json m.hlo -o m.html",
    "hlo-viz --info=fusion.7 m.hlo",
};

}  // namespace

const ToolInfo kHloViz = {"hlo-viz",
                          "draws HLO modules, or parts of them",
                          "[options] FILE... -o OUT",
                          kAliases,
                          kUnavailableOptions,
                          kExamples,
                          kNeeds,
                          kExcludes};

std::vector<OptionGroup> VizGroups(VizOptions& options) {
  return {{"Selection", kSelectionRows, &options},
          {"Drawing", kDrawingRows, &options},
          {"Overlays", kOverlayRows, &options},
          {"Text", kTextRows, &options},
          {"Output", kOutputRows, &options}};
}

}  // namespace hlo
