#!/bin/bash
# What only a process shows of hlo-run: signals, full disks, limits, pipes, start-up. Usage: process_test.sh HLO_RUN TARGETS.so CRASHING.so HLO_OPT OVERRUNNING.so
run=$1 calls=$2 crashing=$3 opt=$4 overrunning=$5
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
# expect CODE TEXT COMMAND...: the exit code, and a line on stderr that contains TEXT.
expect() {
  local code=$1 text=$2 got
  shift 2
  "$@" >out 2>err
  got=$?
  if [ "$got" != "$code" ] || ! grep -qF -- "$text" err; then
    echo "FAIL: $* -> $got, expected $code with '$text' on stderr:"
    cat err
    failures=$((failures + 1))
  fi
}

# Scripts that complete options are scripts, and do that; pages are pages, where something reads them.
# completed TOOL WORDS REPLIES: what bash, in which `=` breaks words, makes of a line.
completed() {
  local found
  found=$(bash -c ". ./$1.bash; compopt() { :; }; COMP_WORDBREAKS=\$' \\t\\n\"\\'@><=;|&(:'; COMP_LINE='$1 $2'
    COMP_POINT=\${#COMP_LINE}; _${1/-/_}; echo \"\${COMPREPLY[*]}\"")
  if [ "$found" != "$3" ]; then
    echo "FAIL: '$1 $2' is completed as '$found', expected '$3'"
    failures=$((failures + 1))
  fi
}

for tool in hlo-opt hlo-run hlo-diff hlo-viz; do
  "$(dirname "$opt")/$tool" --help-as=bash > $tool.bash || failures=$((failures + 1))
  completed $tool --help-a '--help-all --help-as='
  completed $tool --color=a 'auto always'
  completed $tool '--color al' 'always'
  completed $tool --threads= ''
  for shell in zsh fish; do
    "$(dirname "$opt")/$tool" --help-as=$shell > script || failures=$((failures + 1))
    if command -v $shell > /dev/null && ! $shell -n script; then
      echo "FAIL: $tool --help-as=$shell is no script"
      failures=$((failures + 1))
    fi
  done
  if command -v fish > /dev/null; then
    found=$(HOME=$dir fish --no-config -c "source script; complete -C '$tool --color=al'" | cut -f 1)
    if [ "$found" != --color=always ]; then
      echo "FAIL: fish completes '$tool --color=al' as '$found'"
      failures=$((failures + 1))
    fi
  fi
  "$(dirname "$opt")/$tool" --help-as=man > page || failures=$((failures + 1))
  if command -v groff > /dev/null && [ -n "$(groff -man -ww -Tutf8 page 2>&1 > /dev/null)" ]; then
    echo "FAIL: groff does not like the page of $tool"
    failures=$((failures + 1))
  fi
done
touch values.npz
if command -v fish > /dev/null; then
  "$(dirname "$opt")/hlo-run" --help-as=fish > script
  found=$(HOME=$dir fish --no-config -c "source script; complete -C 'hlo-run --inputs=@val'" | cut -f 1)
  [ "$found" = --inputs=@values.npz ] || { echo "FAIL: fish completes '--inputs=@val' as '$found'"; failures=$((failures + 1)); }
fi
completed hlo-opt --passes=dce,@simpli @simplify
completed hlo-opt '--stage hlo-s' hlo-scheduled
completed hlo-run --inputs=@val @values.npz
completed hlo-run '--profile-out val' values.npz
completed hlo-run val values.npz
completed hlo-diff --ignore=layout,const layout,constants
completed hlo-viz '-T sv' svg

cat >m.hlo <<'END'
ENTRY e { ROOT p = f32[4] parameter(0) }
END
cat >endless.hlo <<'END'
body { x = s32[] parameter(0)  ROOT r = s32[] copy(x) }
cond { x = s32[] parameter(0)  ROOT r = pred[] constant(true) }
ENTRY e { x = s32[] parameter(0)  ROOT w = s32[] while(x), condition=cond, body=body }
END
cat >large.hlo <<'END'
ENTRY e { c = f32[] constant(1)  a = f32[400,1000,1000] broadcast(c), dimensions={}  ROOT r = f32[400,1000,1000] negate(a) }
END
"$run" --output=@in.npy --print=none m.hlo
printf 'PK\003\004 truncated' >cut.npz

# exits CODE COMMAND...: whatever it prints.
exits() {
  local code=$1
  shift
  expect 0 "exit $code" bash -c '"$@" >/dev/null; echo "exit $?" >&2' - "$@"
}
# A snapshot: the module in an HloProto, and f32[4] {1,2,3,4}, whose bytes an HLO constant has.
printf 'HloModule m\nENTRY e { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }\n' >negate.hlo
"$opt" --stage=pb -o negate.pb negate.hlo
# field NUMBER FILE: the file's bytes as a field.
field() {
  local size
  size=$(stat -c %s "$2")
  printf "\\x$(printf %02x $(($1 * 8 + 2)))\\x$(printf %02x $((size % 128 + (size > 127 ? 128 : 0))))"
  [ "$size" -lt 128 ] || printf "\\x$(printf %02x $((size / 128)))"
  cat "$2"
}
printf '\x0a\x05\x10\x0b\x1a\x01\x04\x42\x10\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40' >argument.pb
field 1 negate.pb >hlo.pb
{ field 1 hlo.pb; field 2 argument.pb; } >snapshot.pb
exits 0 "$run" -q --expected='{-1,-2,-3,-4}' snapshot.pb
exits 0 "$run" -q --input=zeros --expected=zeros snapshot.pb
exits 1 "$run" --force-fake-data --expected='{-1,-2,-3,-4}' snapshot.pb
exits 0 "$run" -q --input=@argument.pb --expected='{-1,-2,-3,-4}' negate.hlo
expect 3 'cut.pb: error: LiteralProto: malformed field' bash -c 'head -c 20 argument.pb >cut.pb; "$1" --input=@cut.pb negate.hlo' - "$run"
exits 0 "$run" -q --input='{-1,-2,-3,-4}' --expected=@argument.pb negate.hlo
# One program: the tool is what its name begins with, or its first argument.
hlo=$(dirname "$run")/hlo
ln -s "$hlo" hlo-opt-next && ln -s "$hlo" other
[ "$(./hlo-opt-next m.hlo)" = "$("$opt" m.hlo)" ] || exits 0 false
[ "$("$hlo" opt m.hlo)" = "$("$opt" m.hlo)" ] || exits 0 false
expect 2 'usage: hlo opt|run|diff|viz ARGUMENT...' "$hlo"
expect 2 'usage: other opt|run|diff|viz ARGUMENT...' ./other m.hlo
size=$(stat -Lc %s "$hlo")
exits 0 test "$size" -le $((64 << 20))
# Machine code for GPUs, by a toolkit that is made up: an assembler that marks its input, and one that refuses it.
mkdir -p toolkit/bin
printf '#!/bin/sh\n[ "$1" = -arch=sm_90 ] && { echo machine code of; cat "$4"; } >"$3"\n' >toolkit/bin/ptxas
printf '#!/bin/sh\n[ "$1" = -c ] && { echo instructions of; cat "$2"; }\n' >toolkit/bin/nvdisasm
chmod +x toolkit/bin/*
HLO_CUDA=toolkit "$opt" --platform=gpu --stage=sass negate.hlo >out 2>err
grep -q 'instructions of' out && grep -q 'machine code of' out && grep -q '.visible .entry k0_' out || { echo "FAIL: --stage=sass"; cat out err; failures=$((failures + 1)); }
printf '#!/bin/sh\necho "line 7: no such instruction" >&2; exit 255\n' >toolkit/bin/ptxas
expect 5 'error: ptxas refuses the PTX (exit code 255)' env HLO_CUDA=toolkit "$opt" --platform=gpu --stage=cubin -o k.cubin negate.hlo
expect 5 'note: line 7: no such instruction' env HLO_CUDA=toolkit "$opt" --platform=gpu --stage=cubin -o k.cubin negate.hlo
rm toolkit/bin/ptxas
expect 7 "no ptxas of NVIDIA's toolkit: HLO_CUDA is 'toolkit' [unavailable-toolkit]" env HLO_CUDA=toolkit "$opt" --platform=gpu --stage=cubin -o k.cubin negate.hlo
[ ! -e k.cubin ] || { echo "FAIL: a cubin without an assembler"; failures=$((failures + 1)); }
expect 130 'interrupted by signal 2' timeout -s INT --preserve-status 1 "$run" --output=@o.npz endless.hlo
expect 143 'interrupted by signal 15' timeout -s TERM --preserve-status 1 "$run" endless.hlo
expect 129 'interrupted by signal 1' timeout -s HUP --preserve-status 1 "$run" --output=@o.npz endless.hlo
expect 8 'time limit exceeded [limit-timeout]' bash -c 'trap "" HUP; "$@" & sleep 0.2; kill -HUP $!; wait $!' - "$run" --timeout=600ms endless.hlo
expect 8 'time limit exceeded [limit-timeout]' "$run" --timeout=300ms endless.hlo
expect 8 'time limit exceeded [limit-timeout]' "$run" --timeout=300ms --repeats=1000000000 m.hlo
expect 8 'time limit exceeded [limit-timeout]' "$run" --timeout=300ms --warmup=1000000000 m.hlo
"$run" --result-json=- m.hlo m.hlo 2>err | python3 -c 'import json, sys; sys.exit(len(json.load(sys.stdin)["modules"]) != 2)' ||
  { echo "FAIL: result object alone on standard output"; failures=$((failures + 1)); }
awk 'BEGIN { for (i = 0; i < 40000; i++) print "c" i " { x = s32[] parameter(0)  ROOT r = s32[] copy(x) }" }' >many.hlo
cat m.hlo >>many.hlo
expect 8 'time limit exceeded [limit-timeout]' "$run" --timeout=1ms many.hlo
expect 8 '[limit-memory]' "$run" --memory-limit=1G large.hlo
printf '%s\n' 'HloModule h' 'ENTRY e {' '  a = f32[4] parameter(0)' '  z = f32[4,9000000000000] broadcast(a), dimensions={0}' \
  '  ROOT r = f32[9000000000000,4] transpose(z), dimensions={1,0}' '}' >huge.hlo
expect 6 '[runtime-memory]' "$run" huge.hlo
expect 6 'f32[9000000000000,4]' "$run" huge.hlo
sed 's/9000000000000/100000000/' huge.hlo >half.hlo
expect 6 'note: 1.5 GiB of result' bash -c 'ulimit -v 1500000; "$@"' - "$run" --input=ones half.hlo
expect 6 '/dev/full: error: cannot write: No space left on device [output-write]' "$run" --output=@/dev/full --input=ones m.hlo
# A limit on the size of files is an error like any other, for arrays, modules and standard output.
sed 's/4/4000/' m.hlo >m4000.hlo
limited() { bash -c 'ulimit -f 1; "$@"' - "$@"; }
expect 3 'o.npz: error: cannot write: File too large [output-size]' limited "$run" --input=ones --output=@o.npz m4000.hlo
awk 'BEGIN { print "ENTRY e {\n  p0 = f32[4] parameter(0)"; for (i = 1; i < 200; i++) print "  p" i " = f32[4] negate(p" i - 1 ")"
  print "  ROOT r = f32[4] negate(p199)\n}" }' >p200.hlo
expect 3 'o.hlo: error: cannot write: File too large [output-size]' limited "$opt" -o o.hlo p200.hlo
expect 3 'cannot write standard output: File too large [output-size]' limited "$opt" p200.hlo
expect 3 'File too large [output-size]' limited "$opt" --reduce --test=true p200.hlo
# The limit is the user's own for what the user runs.
expect 1 'not interesting' limited "$opt" --reduce --test='head -c 4000 /dev/zero >zeros; false' m.hlo
[ "$(stat -c %s zeros)" = 1024 ] || { echo "FAIL: file-size limit of a test command"; failures=$((failures + 1)); }
# Signals that end the process without asking leave nothing either.
for signal in QUIT PIPE USR1 XCPU; do
  timeout -s $signal --preserve-status 0.3 "$run" --output=@signal.npz endless.hlo >out 2>err
done

expect 3 'cut.npz: error: no end of a zip archive found' "$run" --inputs=@cut.npz m.hlo
expect 2 "is an input of the same run [output-overwrite]" "$run" --input=@in.npy --output=@in.npy m.hlo
"$run" m.hlo >/dev/full 2>err
[ $? = 6 ] && grep -q 'cannot write standard output: No space left' err || { echo "FAIL: full standard output"; failures=$((failures + 1)); }
"$run" - <m.hlo >out 2>err && grep -q 'output f32\[4\] = {' out || { echo "FAIL: standard input"; failures=$((failures + 1)); }
"$run" <m.hlo >out 2>err && grep -q 'output f32\[4\] = {' out || { echo "FAIL: standard input by default"; failures=$((failures + 1)); }
mkdir readonly && chmod a-w readonly
[ "$(id -u)" = 0 ] || expect 6 'cannot write' "$run" --output=@readonly/o.npz m.hlo

# A crash leaves a reproducer.
"$run" --reproducer-dir="$dir" --timeout=5s --module=0 --input=17 endless.hlo >out 2>err &
pid=$!
sleep 0.5
kill -SEGV "$pid"
wait "$pid"
code=$?
crash=hlo-crash-$pid
if [ "$code" != 70 ] || ! grep -qF '[internal-error]' err || ! cmp -s endless.hlo "$crash/module.hlo" || [ ! -x "$crash/run.sh" ] ||
  ! "$run" --show-literal="$crash/arguments.npz" | grep -q 'arg0 s32\[1\] = {17}'; then
  echo "FAIL: reproducer (exit code $code)"
  cat err
  failures=$((failures + 1))
fi

sed -i 's/pred\[\] constant(true)/pred[] constant(false)/' "$crash/module.hlo"
(cd / && "$dir/$crash/run.sh") | grep -q 'output s32\[\] = 17' || { echo "FAIL: run.sh"; cat "$crash/run.sh"; failures=$((failures + 1)); }

cat >lapack.hlo <<'END'
ENTRY e { p = f32[64,64] parameter(0)  ROOT c = f32[64,64] cholesky(p), lower=true }
END
echo 'ENTRY e { p = f32[4] parameter(0)  ROOT %c = f32[1] custom-call(p), custom_call_target="crashes_with_locks" }' >crash_locked.hlo

# A crash in a library names it, its target and the instruction.
for crash in 'reads_nothing 11' 'divides_by_zero 8' 'gives_up 6'; do
  set -- $crash
  echo "ENTRY e { ROOT %c = f32[1] custom-call(), custom_call_target=\"$1\" }" >crash.hlo
  for platform in interpreter cpu; do
    expect 6 "error: signal $2 in custom-call target '$1' of library '$calls', called by %c [runtime-custom-call]" \
      "$run" --platform=$platform --reproducer-dir="$dir" --custom-call-lib="$calls" crash.hlo
    grep -q '^reproducer: ' err || { echo "FAIL: no reproducer of a crash in a library"; failures=$((failures + 1)); }
  done
done

# Where no reproducer can be written, none is promised.
expect 6 "no reproducer: $dir/none/hlo-crash-" "$run" --reproducer-dir="$dir/none" --custom-call-lib="$calls" crash.hlo
! grep -q '^reproducer' err || { echo "FAIL: a reproducer that does not exist"; failures=$((failures + 1)); }
if [ "$(id -u)" != 0 ]; then
  expect 6 'Permission denied' "$run" --reproducer-dir="$dir/readonly" --custom-call-lib="$calls" crash.hlo
fi
(ulimit -f 0; "$run" --reproducer-dir="$dir" --custom-call-lib="$calls" crash.hlo 2>&1) | grep -q 'no reproducer: .*File too large' ||
  { echo "FAIL: a reproducer that could not be written"; failures=$((failures + 1)); }
# Arguments that take long to make, or wait for a lock that the crash has left, do not outlast the time limit.
start=$(date +%s)
expect 6 'error: signal 6 in custom-call target' "$run" --timeout=2s --reproducer-dir="$dir" --custom-call-lib="$calls" crash_locked.hlo
[ $(($(date +%s) - start)) -le 6 ] || { echo "FAIL: a crash report that outlasts --timeout"; failures=$((failures + 1)); }

# A library that crashes, exits or hangs while it is loaded is named.
for how in crashes exits hangs; do
  case $how in
    crashes) message="error: signal 11 in library '$crashing' while it was being loaded [unavailable-library]" code=7 ;;
    exits) message="error: exit() in library '$crashing' while it was being loaded [unavailable-library]" code=7 ;;
    hangs) message="note: library '$crashing' while it was being loaded, did not return" code=8 ;;
  esac
  [ $how = hangs ] && limit=2s || limit=20s
  for library in --custom-call-lib HLO_LAPACK; do
    case $library in
      --*) set -- "$run" $library="$crashing" m.hlo ;;
      HLO_LAPACK) set -- env HLO_LAPACK="$crashing" "$run" --input=ones lapack.hlo ;;
    esac
    CRASHING_LIBRARY=$how expect $code "$message" "$@" --timeout=$limit --reproducer-dir="$dir"
  done
done

# A library that writes beyond what it was given ends programs that check themselves.
cat >overrun.hlo <<'END'
ENTRY e {
  a = f32[5,5]{0,1} parameter(0)
  ROOT t = (f32[5,5]{0,1}, f32[5], f32[4], f32[4], s32[]) custom-call(a), custom_call_target="lapack_ssytrd_ffi"
}
END
for platform in interpreter cpu; do
  expect 70 'lapack_ssytrd_ffi wrote beyond its memory: 0 bytes behind block 0 of 1, which has 16 bytes' \
    env HLO_CHECKED=1 HLO_LAPACK="$overrunning" "$run" --platform=$platform --reproducer-dir="$dir" overrun.hlo
done

# A stack that runs out does so on any thread.
echo 'ENTRY e { ROOT %c = f32[1] custom-call(), custom_call_target="recurses" }' >deep.hlo
expect 6 "error: signal 11 in custom-call target 'recurses' of library '$calls', called by %c [runtime-custom-call]" \
  "$run" --num-replicas=4 --reproducer-dir="$dir" --custom-call-lib="$calls" deep.hlo

# One that ends the process is named, too; one that does not return holds up neither limits nor users for ever.
calls() { echo "ENTRY e { ROOT %c = f32[1] custom-call(), custom_call_target=\"$1\" }"; }
calls leaves >leaves.hlo
calls does_not_return >stuck.hlo
for platform in interpreter cpu; do
  expect 6 "error: exit() in custom-call target 'leaves' of library '$calls', called by %c [runtime-custom-call]" \
    "$run" --platform=$platform --custom-call-lib="$calls" --output=@o.npz leaves.hlo
done
# On a busy machine the program itself may take half a second to reach the call.
"$run" --timeout=3s --custom-call-lib="$calls" stuck.hlo >/dev/null 2>stuck.err &
stuck=$!
expect 130 'interrupted by signal 2 [interrupted]' timeout -s INT --preserve-status 1 "$run" --custom-call-lib="$calls" stuck.hlo
wait $stuck
[ $? = 8 ] && grep -q "note: custom-call target 'does_not_return' of .*, called by %c, did not return" stuck.err ||
  { echo "FAIL: a library that does not return"; cat stuck.err; failures=$((failures + 1)); }

# Threads that the system does not grant: fewer do the work, if memory is left; devices need theirs.
echo 'ENTRY e { p = f32[1000000] parameter(0)  ROOT n = f32[1000000] sine(p) }' >sines.hlo
"$run" --print=summary sines.hlo >first 2>err
for megabytes in 64 70 80 100 1500; do  # the program itself takes 61
  (ulimit -v $((megabytes * 1000)) && "$run" --no-cache --threads=1024 --print=summary sines.hlo) >second 2>err
  code=$?
  [ "$code" = 6 ] || { [ "$code" = 0 ] && cmp -s first second; } ||
    { echo "FAIL: fewer threads than asked for (exit code $code)"; cat err; failures=$((failures + 1)); }
done
expect 6 'out of threads: device ' bash -c 'ulimit -v 3000000; "$@"' - "$run" --threads=1 --num-replicas=4000 --print=none m.hlo

# Code that is no good crashes all threads at once: one reports.
grep -q ' apx' /proc/cpuinfo || expect 7 'it lacks egpr' "$run" --mattr=+egpr m.hlo

# The user's command is given the name as one word, whatever $TMPDIR is.
cat >constant.hlo <<'END'
ENTRY e { c = f32[] constant(1)  n = f32[] negate(c)  ROOT s = f32[] sine(n) }
END
echo 'ENTRY e { x = f32[4] parameter(0)  n = f32[4] negate(x)  ROOT r = f32[4] negate(n) }' >twice.hlo
for folder in 'a b' "it's" 'semi;touch oops;' 'two
lines' '$(touch oops)`touch oops`' 'a"b' '*'; do
  mkdir -p "$dir/tmp/$folder"
  for command in 'grep -q sine %s' 'grep -q sine "%s"' "grep -q sine '%s'" 'grep -q sine' 'test -n "$(grep sine "%s")"' 'sh -c "grep -q sine \"\$1\"" - %s'; do
    TMPDIR="$dir/tmp/$folder" expect 0 '[reduce] done' "$opt" --reduce --test="$command" constant.hlo
    grep -q sine out && ! grep -q negate out || { echo "FAIL: --test='$command' in '$folder'"; failures=$((failures + 1)); }
  done
  TMPDIR="$dir/tmp/$folder" "$opt" -O2 --bisect-passes="! grep -q 'negate' '%s'" twice.hlo >out 2>err
  grep -q "culprit: pass 'algsimp'" out err || { echo "FAIL: --bisect-passes in '$folder'"; cat out err; failures=$((failures + 1)); }
  [ ! -e oops ] || { echo "FAIL: '$folder' was run as a command"; failures=$((failures + 1)); rm oops; }
  left=$(ls -A "$dir/tmp/$folder")
  [ -z "$left" ] || { echo "FAIL: left behind in '$folder': $left"; failures=$((failures + 1)); }
done

# Nothing half-written anywhere.
left=$(find . -name '.*.??????' -o -name 'o.npz')
[ -z "$left" ] || { echo "FAIL: left behind: $left"; failures=$((failures + 1)); }
for tool in opt run diff viz; do
  "$hlo" $tool --help | awk 'END { exit !(NR < 100) }' || { echo "FAIL: help of $tool has 100 lines or more"; failures=$((failures + 1)); }
done

# A row of a table is appended as a whole, the heading once.
for i in 1 2; do "$run" --csv=times.csv --print=none m.hlo m.hlo >out 2>err; done
[ "$(wc -l <times.csv)" = 5 ] && [ "$(grep -c ^file, times.csv)" = 1 ] || { echo "FAIL: --csv"; cat times.csv; failures=$((failures + 1)); }
expect 6 '/dev/full: error: cannot write: No space left on device [output-write]' "$run" --csv=/dev/full m.hlo
[ -c /dev/full ] || { echo "FAIL: /dev/full is gone"; failures=$((failures + 1)); }

# Several modules: all run, the highest code wins, a table ends the output.
cat m.hlo <(echo '// -----') <(echo 'ENTRY f { ROOT p = f32[4] oops(0) }') <(echo '// -----') m.hlo >three.hlo
expect 3 "unknown opcode 'oops'" "$run" three.hlo
[ "$(grep -c '^output' out)" = 2 ] && grep -q '^module *status' out || { echo "FAIL: split file"; failures=$((failures + 1)); }
"$run" --fail-fast three.hlo >out 2>err
[ "$(grep -c '^output' out)" = 1 ] || { echo "FAIL: --fail-fast"; failures=$((failures + 1)); }
"$run" --module=2 three.hlo >out 2>err && [ "$(grep -c '^output' out)" = 1 ] || { echo "FAIL: --module"; failures=$((failures + 1)); }

# Dump directories: by name and order of appearance, before optimizations unless asked otherwise.
mkdir dump
for name in a b; do
  sed "1s/^/HloModule $name\n/" m.hlo >"dump/module_0003.$name.before_optimizations.txt"
  sed "1s/^/HloModule $name\n/" m.hlo >"dump/module_0004.$name.cpu_after_optimizations.txt"
  echo junk >"dump/module_0004.$name.cpu_after_optimizations-buffer-assignment.txt"
done
for stage in before after; do
  "$run" --stage-in=$stage dump >out 2>err && [ "$(grep -c '^output' out)" = 2 ] && [ ! -s err ] || { echo "FAIL: dump directory, $stage"; failures=$((failures + 1)); }
done
"$run" --stage-in=all --module=b dump >out 2>err && [ "$(grep -c '^output' out)" = 2 ] || { echo "FAIL: dump directory, all"; failures=$((failures + 1)); }
expect 3 "no HLO module in dump directory" "$run" --stage-in=pass:fusion dump
expect 3 "note: --stage-in=all takes all " "$run" --stage-in=pass:fusion dump
mkdir plain && cp m.hlo plain/
expect 3 "note: dumps have names as module_0001.NAME.before_optimizations.txt" "$run" plain
"$run" plain dump >out 2>err
grep -q '^plain  *NOT-RUN' out || { echo "FAIL: the table of modules does not name a folder:"; cat out; failures=$((failures + 1)); }
expect 2 "expected before, after, pass:RE or all" "$run" --stage-in=middle dump

# XLA_FLAGS, configuration file, command line: the later wins.
echo 'print: none' >config
XLA_FLAGS=--xla_some_flag=1 "$run" --config=config m.hlo >out 2>err
[ ! -s out ] && [ ! -s err ] || { echo "FAIL: configuration file"; failures=$((failures + 1)); }
XLA_FLAGS=--print=full "$run" --config=config m.hlo >out 2>err
[ -s out ] || { echo "FAIL: XLA_FLAGS over the configuration file"; failures=$((failures + 1)); }
XLA_FLAGS=--print=full "$run" --print=none m.hlo >out 2>err
[ ! -s out ] || { echo "FAIL: command line over XLA_FLAGS"; failures=$((failures + 1)); }

# Times of another module are no baseline.
sed '1s/^/HloModule other\n/' m.hlo >other.hlo
"$run" --benchmark=json --repeats=1 --print=none m.hlo >times.json 2>err
expect 0 '[baseline-missing]' "$run" --baseline=times.json other.hlo

# Compiled kernels on disk: used again, not when damaged or when others may write them.
export XDG_CACHE_HOME=$dir/cache
printf 'ENTRY e { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }' >kernel.hlo
"$run" --platform=cpu --tier=compile kernel.hlo >first 2>err
entry=$(echo cache/hlo-toolkit/*/*.kernels)
[ -f "$entry" ] || { echo "FAIL: no kernels in the cache"; failures=$((failures + 1)); }
printf garbage | dd of="$entry" conv=notrunc bs=1 seek=40 2>/dev/null
expect 0 'is damaged; not used [kernel-cache]' "$run" --platform=cpu --tier=compile kernel.hlo
chmod a+w "$entry"
expect 0 'may be written by others; not used [kernel-cache]' "$run" --platform=cpu --tier=compile kernel.hlo
"$run" --platform=cpu --tier=compile kernel.hlo >second 2>err
cmp -s first second || { echo "FAIL: results with and without the cache differ"; failures=$((failures + 1)); }
# An entry under another name, and one of another build of the same size and time, are no entries.
sed 's/negate/abs/g' kernel.hlo >other.hlo
rm -f cache/hlo-toolkit/*/*.kernels
"$run" --tier=compile other.hlo >of_other 2>err
other=$(echo cache/hlo-toolkit/*/*.kernels)
"$run" --tier=compile kernel.hlo >first 2>err
entry=$(ls cache/hlo-toolkit/*/*.kernels | grep -vF "$other")
cp "$other" kept && cp "$entry" "$other" && cp kept "$entry"
expect 0 'holds another program; not used [kernel-cache]' "$run" --tier=compile kernel.hlo
cmp -s out first || { echo "FAIL: an entry under another name"; failures=$((failures + 1)); }
expect 0 'holds another program; not used [kernel-cache]' "$run" --tier=compile other.hlo
cmp -s out of_other || { echo "FAIL: an entry under another name"; failures=$((failures + 1)); }
count() { ls cache/hlo-toolkit/*/*.kernels | wc -l; }
for options in '' --strict-fp -O1 --disable-rule=add-zero; do "$run" --tier=compile $options kernel.hlo >out 2>err; done
[ "$(count)" -ge 4 ] || { echo "FAIL: entries of other options: $(count)"; failures=$((failures + 1)); }
# Nor is a program made with other libraries: what they cannot do is done otherwise.
for library in HLO_LAPACK=none HLO_ONEDNN=none LD_LIBRARY_PATH=/nowhere; do
  before=$(count)
  env "$library" "$run" --tier=compile kernel.hlo >out 2>err
  [ "$(count)" = $((before + 1)) ] || { echo "FAIL: entries of $library: $(count), $before before"; failures=$((failures + 1)); }
done
before=$(count)
python3 - "$run" hlo-run-rebuilt <<'END'
import re, subprocess, sys
text = open(sys.argv[1], 'rb').read()
at = text.index(b'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0') + 16
open(sys.argv[2], 'wb').write(text[:at] + bytes(20) + text[at + 20:])
END
chmod +x hlo-run-rebuilt && touch -r "$run" hlo-run-rebuilt
./hlo-run-rebuilt --tier=compile kernel.hlo >second 2>err
cmp -s first second && [ ! -s err ] && [ "$(count)" = $((before + 1)) ] || { echo "FAIL: entries of another build: $(count), $before before"; cat err; failures=$((failures + 1)); }
# Many processes at once, while entries vanish.
for i in 1 2 3 4 5 6 7 8; do
  (for j in 1 2 3; do "$run" --platform=cpu --tier=compile kernel.hlo 2>&1 | cmp -s - first || echo "$i.$j" >>races; done) &
  rm -f cache/hlo-toolkit/*/*.kernels
done
wait
[ ! -e races ] || { echo "FAIL: a cache that many use"; failures=$((failures + 1)); }
# A folder that cannot be written is none.
XDG_CACHE_HOME=/proc/none "$run" --platform=cpu --tier=compile kernel.hlo >second 2>err
cmp -s first second && [ ! -s err ] || { echo "FAIL: a cache that cannot be written"; cat err; failures=$((failures + 1)); }
# A program that is interpreted comes back as well.
printf 'ENTRY e { p = f32[4] parameter(0)  b = u32[4] bitcast-convert(p)  ROOT n = u32[4] not(b) }' >bits.hlo
"$run" --platform=cpu --tier=interpret bits.hlo >first 2>err
"$run" --platform=cpu --tier=interpret bits.hlo >second 2>err
cmp -s first second && [ ! -s err ] || { echo "FAIL: interpreted kernels from the cache"; failures=$((failures + 1)); }
# Code for GPUs lies there as well, an entry for each target.
rm -r cache
"$run" --platform=gpu-emu kernel.hlo >first 2>err
entry=$(echo cache/hlo-toolkit/*/*.kernels)
[ -f "$entry" ] && grep -qF '.visible .entry' "$entry" || { echo "FAIL: no PTX in the cache"; failures=$((failures + 1)); }
"$run" --platform=gpu-emu kernel.hlo >second 2>err
cmp -s first second && [ ! -s err ] && [ "$(count)" = 1 ] || { echo "FAIL: PTX from the cache"; failures=$((failures + 1)); }
printf garbage | dd of="$entry" conv=notrunc bs=1 seek=40 2>/dev/null
expect 0 'is damaged; not used [kernel-cache]' "$run" --platform=gpu-emu kernel.hlo
"$run" --platform=gpu-emu --gpu-target=a100 kernel.hlo >second 2>err
"$run" --platform=cpu --tier=compile kernel.hlo >second 2>err
[ "$(count)" = 3 ] || { echo "FAIL: entries of other targets: $(count)"; failures=$((failures + 1)); }
# A disk that is full keeps nothing, and nobody is told.
rm -r cache
(trap '' XFSZ; ulimit -f 0; "$run" --platform=gpu-emu kernel.hlo 2>&1) | cat >second
cmp -s first second || { echo "FAIL: a full disk"; failures=$((failures + 1)); }
(trap '' XFSZ; ulimit -f 0; "$run" --tier=compile kernel.hlo 2>&1) | cat >second
cmp -s first second || { echo "FAIL: a full disk"; failures=$((failures + 1)); }
[ -z "$(find cache -type f)" ] || { echo "FAIL: what a full disk keeps"; failures=$((failures + 1)); }
rm -r cache
for platform in cpu gpu-emu; do "$run" --platform=$platform --tier=compile --no-cache kernel.hlo >out 2>err; done
[ ! -e cache ] || { echo "FAIL: --no-cache"; failures=$((failures + 1)); }

[ "$failures" = 0 ] && echo "all passed"
exit "$failures"
