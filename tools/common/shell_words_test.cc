#include "tools/common/shell_words.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace hlo {
namespace {

/// What sh prints.
std::string Output(const std::string& command) {
  std::string text;
  FILE* from = popen(command.c_str(), "r");
  if (from == nullptr) return text;
  char buffer[4096];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof buffer, from)) > 0;) text.append(buffer, n);
  pclose(from);
  return text;
}

/// Shows each of its words between brackets.
constexpr char kShow[] = "show() { for word; do printf '[%s]' \"$word\"; done; }\n";

const std::string kNames[] = {"/tmp/m.hlo",      "/tmp/a b/m.hlo",
                              "/t/it's",         "/t/say \"hi\"",
                              "/t/$HOME/`id`",   "/t/a;echo oops;",
                              "/t/a\nb\n\nc",    "/t/back\\slash\\\\n\\",
                              "/t/* ? [a-z]/&|", "-n",
                              "#x (y) <z>",      "%s%s"};

struct Case {
  std::string command, shown;  // % is the name
};
const Case kCases[] = {
    {"show", "[%]"},
    {"show %s", "[%]"},
    {"show x%sy z", "[x%y][z]"},
    {"show 'x %s' z", "[x %][z]"},
    {R"(show "x \"%s\" '%s'")", R"([x "%" '%'])"},
    {"show \"$(show \"<%s>\" %s)\"", "[[<%>][%]]"},
    {"show $(printf '(') %s; (show '%s')", "[(][%][%]"},
    {"show \"`show 'a%s'`\"", "[[a%]]"},
    {"show x # it's nothing: %s\nshow y#%s", "[x][y#%]"},
    {"show a#' %s'", "[a# %]"},
    {"cat <<E; show '%s'\nit's \"<%s>\nE\nshow %s", "it's \"<%>\n[%][%]"},
    {"cat <<'E'\n\"<%s>\nE\n", "\"<%>\n"},
    {"cat <<-E\n\t\"<%s>\n\tE\nshow '%s'", "\"<%>\n[%]"},
    {"show \\%s %s", "[%%s][%]"},
    {"show \"\\%s\"", "[\\%]"},
};

TEST(ShellWords, TheShellReadsTheNameAsOneWordWhereverItStands) {
  for (const std::string& name : kNames)
    for (const Case& c : kCases) {
      std::string expected;
      for (size_t i = 0; i < c.shown.size(); ++i)
        if (c.shown.compare(i, 2, "%%") == 0)
          expected += c.shown[i++];
        else
          expected += c.shown[i] == '%' ? name : std::string(1, c.shown[i]);
      const std::string command = CommandWithFile(c.command, name);
      EXPECT_EQ(Output(kShow + command), expected) << command;
    }
}

TEST(ShellWords, ASecondShellTakesTheNameAsItsArgument) {
  for (const std::string& name : kNames)
    EXPECT_EQ(Output(CommandWithFile("sh -c 'cat <<E\n$1\nE\n' - %s", name)), name + "\n");
}

// Commands that no shell would read are the shell's to refuse.
TEST(ShellWords, UnfinishedCommandsEnd) {
  for (const char* command : {"'%s", "\"%s", "`%s", "$(%s", "\\", "<<", "<<E\n%s", "<<'", "%", ")", "#%s"})
    EXPECT_FALSE(CommandWithFile(command, "x y").empty());
}

}  // namespace
}  // namespace hlo
