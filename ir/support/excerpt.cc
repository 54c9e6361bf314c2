#include "ir/support/excerpt.h"

#include <algorithm>

#include "ir/support/utf8.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Unicode.h"

namespace hlo {
namespace {

constexpr unsigned kGutter = 8;        // "   12 | "
constexpr unsigned kMinimumText = 24;  // shown even where the terminal is narrower
constexpr unsigned kTabStop = 8;
constexpr llvm::StringRef kCut = "...";

/// One character of the line as it is shown.
struct Cell {
  uint32_t offset = 0;  // of the character in the line, in bytes
  std::string text;
  unsigned width = 1;  // terminal columns
};

/// The line around a position, without its end.
struct Line {
  uint32_t start = 0;  // offset in the buffer
  llvm::StringRef text;
};

Line LineAt(const SourceBuffer& source, uint32_t offset) {
  const llvm::StringRef text = source.text();
  const size_t at = std::min<size_t>(offset, text.size());
  const size_t start = text.take_front(at).rfind('\n') + 1;  // npos + 1 is 0
  llvm::StringRef line = text.drop_front(start);
  line = line.take_front(line.find('\n'));
  line.consume_back("\r");
  return {static_cast<uint32_t>(start), line};
}

Cell MakeCell(llvm::StringRef line, size_t offset) {
  const llvm::StringRef rest = line.drop_front(offset);
  const llvm::StringRef character = rest.take_front(CharacterLength(rest));
  Cell cell{static_cast<uint32_t>(offset), EscapeControls(character), 1};
  const int width = llvm::sys::unicode::columnWidthUTF8(cell.text);
  if (width >= 0)
    cell.width = static_cast<unsigned>(width);
  else if (character != "\t")  // not printable though well formed
    cell.text = "?";
  return cell;
}

/// The cells of at most `reach` characters on either side of `focus`, tabs expanded.
std::vector<Cell> CellsAround(llvm::StringRef line, size_t focus, unsigned reach) {
  size_t first = focus;
  for (unsigned i = 0; i < reach && first > 0; ++i) {
    size_t back = first - 1;  // a character is at most 4 bytes
    while (back > 0 && first - back < 4 && (static_cast<unsigned char>(line[back]) & 0xC0U) == 0x80U) --back;
    first = back + CharacterLength(line.drop_front(back)) == first ? back : first - 1;
  }
  std::vector<Cell> cells;
  unsigned column = 0;
  for (unsigned i = 0; i <= 2 * reach && first < line.size(); ++i) {
    Cell cell = MakeCell(line, first);
    first += CharacterLength(line.drop_front(first));
    if (cell.text == "\t") {
      cell.width = kTabStop - column % kTabStop;
      cell.text.assign(cell.width, ' ');
    }
    column += cell.width;
    cells.push_back(std::move(cell));
  }
  return cells;
}

/// Half-open range of cells that is shown.
struct Window {
  size_t begin = 0, end = 0;
  bool cut_left = false, cut_right = false;
};

/// Chooses the widest range of cells around [mark, mark_end) that fits into `budget` columns together
/// with the dots of its cuts. The text before the mark gets a third of the room, or all that is left over.
Window ChooseWindow(llvm::ArrayRef<Cell> cells, size_t mark, bool more_left, bool more_right,
                    unsigned budget) {
  unsigned total = 0;
  for (const Cell& cell : cells) total += cell.width;
  if (total <= budget && !more_left && !more_right) return {0, cells.size(), false, false};
  const auto room = static_cast<unsigned>(budget - 2 * kCut.size());
  Window w{mark, mark, false, false};
  unsigned used = 0;
  auto grow_left = [&](unsigned limit) {
    while (w.begin > 0 && used + cells[w.begin - 1].width <= limit) used += cells[--w.begin].width;
  };
  auto grow_right = [&](unsigned limit) {
    while (w.end < cells.size() && used + cells[w.end].width <= limit) used += cells[w.end++].width;
  };
  grow_left(room / 3);
  grow_right(room);
  grow_left(room);
  w.cut_left = more_left || w.begin > 0;
  w.cut_right = more_right || w.end < cells.size();
  // One cut only: the dots of the other are free for text.
  if (!w.cut_left || !w.cut_right) {
    const auto wider = static_cast<unsigned>(budget - kCut.size());
    grow_right(wider);
    grow_left(wider);
    w.cut_left = more_left || w.begin > 0;
    w.cut_right = more_right || w.end < cells.size();
  }
  return w;
}

}  // namespace

llvm::StringRef FirstLineOf(const Loc& loc) {
  const llvm::StringRef text = loc.source->text().slice(loc.begin, std::max(loc.begin, loc.end));
  return text.take_front(text.find('\n')).rtrim('\r');
}

void RenderExcerpt(const Loc& loc, const RenderOptions& options, llvm::raw_ostream& os) {
  const Line line = LineAt(*loc.source, loc.begin);
  const auto mark =
      static_cast<uint32_t>(std::min<size_t>(loc.begin - std::min(loc.begin, line.start), line.text.size()));
  const auto mark_end = static_cast<uint32_t>(mark + FirstLineOf(loc).size());
  const unsigned budget = std::max(options.width, kGutter + kMinimumText) - kGutter;
  const std::vector<Cell> cells = CellsAround(line.text, mark, budget);
  const auto mark_cell = static_cast<size_t>(
      llvm::find_if(cells, [&](const Cell& c) { return c.offset >= mark; }) - cells.begin());
  const bool more_left = !cells.empty() && cells.front().offset > 0;
  const bool more_right =
      !cells.empty() &&
      cells.back().offset + CharacterLength(line.text.drop_front(cells.back().offset)) < line.text.size();
  const Window window = ChooseWindow(cells, mark_cell, more_left, more_right, budget);

  std::string text, pad, underline;
  if (window.cut_left) {
    text = kCut;
    pad.assign(kCut.size(), ' ');
  }
  for (size_t i = window.begin; i < window.end; ++i) {
    const Cell& cell = cells[i];
    text += cell.text;
    if (i < mark_cell)
      pad.append(cell.width, ' ');
    else if (i == mark_cell)
      underline = "^" + std::string(cell.width > 1 ? cell.width - 1 : 0, '~');
    else if (cell.offset < mark_end)
      underline.append(cell.width, '~');
  }
  if (underline.empty()) underline = "^";  // at the end of the line
  if (window.cut_right) text += kCut;
  const unsigned number = FindLineColumn(*loc.source, loc.begin).line;
  os << llvm::format("%5u | ", number) << llvm::StringRef(text).rtrim(' ') << '\n';
  os << std::string(std::max<size_t>(5, std::to_string(number).size()), ' ') << " | " << pad;
  if (options.color) os.changeColor(llvm::raw_ostream::GREEN, /*Bold=*/true);
  os << underline;
  if (options.color) os.resetColor();
  os << '\n';
}

}  // namespace hlo
