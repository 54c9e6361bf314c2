#include "tools/viz/page.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "tools/viz/palette.h"
#include "tools/viz/quote.h"

namespace hlo {
namespace {

constexpr llvm::StringLiteral kStyle = R"(
:root{color-scheme:light dark}
body{margin:0;font:13px/1.45 ui-monospace,Menlo,Consolas,monospace}
header{position:sticky;top:0;padding:.5em 1em;background:Canvas;border-bottom:1px solid #9e9e9e;z-index:1}
header h1{display:inline;font-size:1.1em;margin-right:1em}
#q{width:24em;font:inherit}
details{margin:.5em 1em;content-visibility:auto;contain-intrinsic-size:auto 20em}
summary{cursor:pointer;font-weight:bold}
summary.entry{text-decoration:underline}
.i{white-space:pre-wrap;overflow-wrap:anywhere;padding-left:3em;text-indent:-2em;border-left:.5em solid}
.i:target,details:target>summary{background:#ffe08288}
.i.user{background:#90caf966}
.i b{cursor:pointer}
.off{display:none}
a{color:inherit;text-decoration:none;border-bottom:1px dotted}
pre{margin:.5em 1em;white-space:pre-wrap;overflow-wrap:anywhere}
)";

// Search hides lines, a click on a name marks its users, fragments unfold what they point into.
constexpr llvm::StringLiteral kScript = R"(
const q=document.getElementById('q'),n=document.getElementById('n'),lines=[...document.querySelectorAll('.i')];
function find(){let t=q.value.toLowerCase(),re=null,k=0;
 if(t.startsWith('/'))try{re=new RegExp(q.value.slice(1),'i')}catch(e){}
 for(const l of lines){const on=!t||(re?re.test(l.textContent):l.textContent.toLowerCase().includes(t));
  l.classList.toggle('off',!on);k+=on}
 n.textContent=t?k+' of '+lines.length:lines.length+' instructions'}
let timer;q.addEventListener('input',()=>{clearTimeout(timer);timer=setTimeout(find,120)});
function show(){const e=document.getElementById(decodeURIComponent(location.hash.slice(1)));if(!e)return;
 const d=e.closest('details');if(d)d.open=true;e.classList.remove('off');e.scrollIntoView({block:'center'})}
addEventListener('hashchange',show);
document.addEventListener('click',e=>{if(e.target.tagName!='B')return;const id=e.target.parentNode.id;
 for(const u of document.querySelectorAll('.user'))u.classList.remove('user');
 const to='#'+encodeURIComponent(id);
 for(const a of e.target.closest('details').querySelectorAll('a'))
  if(a.getAttribute('href')==to)a.parentNode.classList.add('user')});
document.getElementById('all').onclick=()=>{const ds=[...document.querySelectorAll('details')];
 const open=!ds.every(d=>d.open);for(const d of ds)d.open=open};
find();show();
)";

/// What encodeURIComponent() makes of a text.
std::string UriComponent(llvm::StringRef text) {
  std::string out;
  for (const char c : text) {
    if (llvm::isAlnum(c) || llvm::StringRef("-_.!~*'()").contains(c))
      out += c;
    else
      out += ("%" + llvm::Twine(llvm::hexdigit(static_cast<unsigned char>(c) >> 4)) +
              llvm::Twine(llvm::hexdigit(static_cast<unsigned char>(c) & 15)))
                 .str();
  }
  return out;
}

bool IsNameCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; }

class PageWriter {
 public:
  PageWriter(llvm::raw_ostream& os, const Module& module, const PageOptions& options)
      : os_(os), module_(module), options_(options) {}

  void Write() {
    os_ << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << Html(module_.name())
        << "</title>\n<style>" << kStyle;
    for (const Scheme scheme : kSchemes)
      os_ << ".c" << static_cast<int>(scheme) << "{border-color:" << ColoursOf(scheme).fill << "}\n";
    os_ << "</style></head><body>\n<header><h1>" << Html(module_.name())
        << "</h1><input id=\"q\" type=\"search\" placeholder=\"text or /regular expression\"> <span "
           "id=\"n\"></span> "
           "<button id=\"all\">fold or unfold all</button></header>\n<pre>HloModule "
        << Html(module_.name());
    for (const auto& [name, text] : ModuleAttributeTexts(module_))
      os_ << ", " << Html(name) << '=' << Html(text);
    os_ << "</pre>\n";
    // The entry first: that is where reading starts.
    WriteComputation(*module_.entry());
    for (const Computation* c : module_.PrintOrder())
      if (!c->IsEntry() && (options_.fusion_bodies || !c->IsFusion())) WriteComputation(*c);
    os_ << "<script>" << kScript << "</script></body></html>\n";
  }

 private:
  static constexpr Scheme kSchemes[] = {
#define HLO_SCHEME(Name, ...) Scheme::Name,
#include "tools/viz/palette.def"
  };

  static std::string Html(llvm::StringRef text) {
    std::string out;
    AppendHtml(out, PrintableText(text, text.size()));
    return out;
  }
  static std::string Fragment(const Instruction& inst) {
    return (inst.parent()->name() + "::" + inst.name()).str();
  }

  void WriteComputation(const Computation& c) {
    os_ << "<details" << (c.IsFusion() ? "" : " open") << " id=\"" << Html(c.name()) << "\"><summary"
        << (c.IsEntry() ? " class=\"entry\">ENTRY %" : ">%") << Html(c.name()) << " ("
        << c.instruction_count() << " instructions)</summary>\n";
    Callers(c);
    const std::vector<Instruction*> order = c.has_schedule() ? c.schedule() : c.PostOrder();
    for (const Instruction* inst : order) WriteInstruction(*inst);
    os_ << "</details>\n";
  }

  void Callers(const Computation& c) {
    constexpr size_t kMostCallers = 20;
    if (c.callers().empty()) return;
    os_ << "<div>called by";
    for (const Instruction* caller : c.callers().take_front(kMostCallers))
      os_ << " <a href=\"#" << UriComponent(Fragment(*caller)) << "\">%" << Html(caller->name()) << "</a>";
    if (c.callers().size() > kMostCallers) os_ << " and " << c.callers().size() - kMostCallers << " more";
    os_ << "</div>\n";
  }

  void WriteInstruction(const Instruction& inst) {
    llvm::StringMap<std::string> links;
    for (const Computation* callee : inst.callees()) links[callee->name()] = callee->name().str();
    for (const Instruction* before : inst.extras().control_predecessors)
      links[before->name()] = Fragment(*before);
    for (const Instruction* operand : inst.operands()) links[operand->name()] = Fragment(*operand);
    const std::string text = ToString(inst, options_.print);
    const size_t equals = text.find(" = ");
    const size_t head = equals == std::string::npos ? 0 : equals;
    std::string line = "<div class=\"i c" + std::to_string(static_cast<int>(SchemeOf(inst))) + "\" id=\"";
    AppendHtml(line, Fragment(inst));
    line +=
        (inst.IsRoot() ? "\"><b>ROOT " : "\"><b>") + Html(llvm::StringRef(text).take_front(head)) + "</b>";
    AppendLinked(line, llvm::StringRef(text).drop_front(head), links);
    os_ << line << "</div>\n";
  }

  /// Names outside of strings become links.
  void AppendLinked(std::string& line, llvm::StringRef text, const llvm::StringMap<std::string>& links) {
    const std::string clean = PrintableText(text, text.size());
    text = clean;
    size_t done = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && quoted)
        ++i;
      else if (text[i] == '"')
        quoted = !quoted;
      if (i >= text.size() || quoted || text[i] != '%') continue;
      const llvm::StringRef name = text.drop_front(i + 1).take_while(IsNameCharacter);
      const auto link = links.find(name);
      if (link == links.end()) continue;
      AppendHtml(line, text.slice(done, i));
      line += "<a href=\"#" + UriComponent(link->second) + "\">%";
      AppendHtml(line, name);
      line += "</a>";
      i += name.size();
      done = i + 1;
    }
    AppendHtml(line, text.drop_front(std::min(done, text.size())));
  }

  llvm::raw_ostream& os_;
  const Module& module_;
  const PageOptions& options_;
};

}  // namespace

void WritePage(llvm::raw_ostream& os, const Module& module, const PageOptions& options) {
  PageWriter(os, module, options).Write();
}

}  // namespace hlo
