#include "tools/viz/index/index_page.h"

#include "tools/viz/drawing/page_code.h"
#include "tools/viz/drawing/quote.h"

namespace hlo {
namespace {

constexpr size_t kLongestTitle = 4096;

/// Writes a part of index.html, in which only what is to be put in stands between two `@`.
void WriteFrame(llvm::raw_ostream& os, llvm::StringRef frame, llvm::StringRef title) {
  const llvm::ArrayRef<llvm::StringRef> texts = IndexPageTexts();
  llvm::SmallVector<llvm::StringRef> parts;
  frame.split(parts, '@');
  for (const llvm::StringRef part : parts) {
    if (part == "TITLE") {
      std::string text;
      AppendHtml(text, PrintableText(title, kLongestTitle));
      os << text;
    } else if (part == "POLICY") {
      os << kPagePolicy;
    } else {
      os << (part == "STYLE" ? texts[1] : part == "SCRIPT" ? texts[2] : part);
    }
  }
}

}  // namespace

void BeginIndexPage(llvm::raw_ostream& os, llvm::StringRef title) {
  WriteFrame(os, IndexPageTexts()[0].split("@DATA@").first, title);
}

llvm::StringRef IndexDataOf(llvm::StringRef page) {
  // What stands before the data since its line began is in no other page.
  const llvm::StringRef begin = IndexPageTexts()[0].split("@DATA@").first.rsplit('\n').second;
  return page.split(begin).second.split("</script>").first;
}

void EndIndexPage(llvm::raw_ostream& os) { WriteFrame(os, IndexPageTexts()[0].split("@DATA@").second, ""); }

}  // namespace hlo
