#!/bin/bash
# What only a process shows of hlo-viz: dump directories with many files, signals, full disks, no Graphviz. Usage: dump_index_test.sh HLO_VIZ CRASHING.so
viz=$1 crashing=$2
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}
# expect CODE TEXT COMMAND...: the exit code, and a line on stderr that contains TEXT.
expect() {
  local code=$1 text=$2 got
  shift 2
  "$@" >out.txt 2>err.txt
  got=$?
  [ "$got" = "$code" ] && grep -qF -- "$text" err.txt || fail "$* -> $got, expected $code with '$text': $(cat err.txt)"
}
# chain FILE LENGTH OPCODE: a module of that many instructions.
chain() {
  awk -v n="$2" -v op="$3" 'BEGIN { print "HloModule m\nENTRY e {\n  i0 = f32[8] parameter(0)"
    for (k = 1; k < n; k++) print "  i" k " = f32[8] " op "(i" k - 1 ")"
    print "  ROOT r = f32[8] " op "(i" n - 1 ")\n}" }' >"$1"
}
left_over() { find "$1" -mindepth 1 2>/dev/null; }

# 500 dumps of ten compilations.
mkdir many
for op in negate abs; do chain "$op.txt" 40 $op; done
for m in 0 1 2 3 4 5 6 7 8 9; do
  for s in $(seq 10 59); do
    cp "$([ $((s % 5)) = 0 ] && echo abs || echo negate).txt" "many/module_000$m.jit_f.00$s.simplify.after_a.before_b.txt"
  done
done
"$viz" many -o many.html || fail "500 dumps"
[ "$(grep -o '"file":' many.html | wc -l)" = 500 ] || fail "$(grep -o '"file":' many.html | wc -l) of 500 dumps on the page"
# Each compilation: the first, and two drawings for each of the nine or ten times the opcode changes and changes back.
drawings=$(ls many_files | wc -l)
[ "$drawings" -ge 190 ] && [ "$drawings" -le 210 ] || fail "$drawings drawings"
"$viz" many -o again.html && cmp -s <(sed s/again_files/many_files/g again.html) many.html || fail "another page the second time"
"$viz" --module=3 many -o one.html && [ "$(grep -o '"file":' one.html | wc -l)" = 50 ] || fail "one compilation by its number"
expect 2 "option '--module': no module matches 'jit_g'; did you mean 'jit_f'? [usage-name]" "$viz" --module=jit_g many -o none.html
expect 2 "option '--module': no module matches '10' [usage-name]" "$viz" --module=10 many -o none.html
mkdir empty
expect 3 'no HLO module in dump directory [input-empty]' "$viz" empty -o none.html
cp many.html before.html
"$viz" -j 1 many -o many.html && cmp -s many.html before.html || fail "another page with one thread"
# Written again with less: drawings that the page no longer leads to go, files of others stay.
echo mine >many_files/mine.html
"$viz" --stage-in=pass:after_a --module=3 many -o many.html || fail "some stages of one compilation"
[ "$(grep -o '"file":' many.html | wc -l)" = 50 ] || fail "$(grep -o '"file":' many.html | wc -l) steps of one compilation"
[ "$(ls many_files | grep -vc '^module_0003')" = 1 ] || fail "drawings of the page before: $(ls many_files | grep -v '^module_0003' | head -3)"
expect 3 "no HLO module in dump directory (stage 'after') [input-empty]" "$viz" --stage-in=after many -o none.html

# Interrupted: nothing is left.
mkdir large
chain large/module_0001.m.before_optimizations.txt 20000 negate
for s in $(seq 1000 1899); do
  ln large/module_0001.m.before_optimizations.txt "large/module_0001.m.$s.p.after_a.before_b.txt"
done
mkdir out
expect 130 'interrupted by signal 2' timeout -s INT --preserve-status 1 "$viz" large -o out/index.html
[ -z "$(left_over out)" ] || fail "left after an interrupt: $(left_over out)"
expect 8 'time limit exceeded [limit-timeout]' "$viz" --timeout=300ms large -o out/index.html
[ -z "$(left_over out)" ] || fail "left after the time limit: $(left_over out)"
expect 6 'cannot write: No space left on device [output-write]' "$viz" -T html many -o /dev/full
# What stood there before stays.
mkdir -p out/index_files && echo mine >out/index_files/mine.txt
expect 130 'interrupted by signal 2' timeout -s INT --preserve-status 1 "$viz" large -o out/index.html
[ "$(left_over out | wc -l)" = 2 ] || fail "files of others: $(left_over out)"

# The view of hlo-opt is that of hlo-viz, with its limit.
opt=$(dirname "$viz")/hlo-opt
chain long.txt 1000 negate
expect 0 '1002 nodes are more than 400 (hlo-viz --max-nodes): ' "$opt" --stage=dot long.txt -o long.opt.dot
"$viz" long.txt -o long.viz.dot 2>err.txt && cmp long.opt.dot long.viz.dot || fail "hlo-opt --stage=dot is not the view of hlo-viz"

# Without Graphviz: pictures are not to be had, everything else is.
export HLO_GRAPHVIZ=none
for form in svg png pdf; do
  expect 7 "error: $form needs Graphviz: " "$viz" negate.txt -o "picture.$form"
  [ ! -e "picture.$form" ] || fail "picture.$form without Graphviz"
done
expect 77 'error: svg needs Graphviz: ' "$viz" --skip-unavailable negate.txt -o picture.svg
expect 7 'Graphviz: ' env HLO_GRAPHVIZ=/nowhere/libgvc.so "$viz" negate.txt -o picture.png
for form in dot html json; do "$viz" negate.txt -o "picture.$form" || fail "$form without Graphviz"; done

# A library that crashes while it is loaded is named.
chain one.hlo 2 abs
HLO_GRAPHVIZ=$crashing expect 7 "error: signal 11 in library '$crashing' while it was being loaded [unavailable-library]" "$viz" one.hlo -o one.svg

[ "$failures" = 0 ] && echo ok
exit "$failures"
