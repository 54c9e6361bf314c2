// The program of the four tools, which leaves code for other kinds of machines to one that holds code
// generators for them: `hlo-cross`, beside it.
#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "tools/program.h"

namespace {

bool AsksForTarget(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).starts_with("--target=")) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (AsksForTarget(argc, argv)) {
    std::error_code none;
    const auto here = std::filesystem::read_symlink("/proc/self/exe", none);
    // Without that program this one says what it lacks.
    if (!none) execv((here.parent_path() / "hlo-cross").c_str(), argv);
  }
  return hlo_program(argc, argv);
}
