// The four tools as a function.
#pragma once

extern "C" {
/// What main() does: runs the tool that `argv[0]`, or `argv[1]` behind `hlo`, names, and returns its exit
/// code. The process is the tool's from then on: signals, limits, standard streams. Once.
// NOLINTNEXTLINE(readability-identifier-naming): a function of C
int hlo_program(int argc, char** argv);
}
