#!/bin/bash
# Formats all C++ sources in place; with --check only names those that differ and exits 1 if any does.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files -co --exclude-standard '*.cc' '*.h')
format=clang-format-19
if [ "${1:-}" = --check ]; then
  exec "$format" --dry-run --Werror "${files[@]}"
fi
exec "$format" -i "${files[@]}"
