#!/bin/sh
# Builds the C++ tests and the fuzz loop with address and undefined behaviour sanitizers.
# Usage: csrc/tests/build.sh FOLDER; the programs are FOLDER/text_test, FOLDER/rows_test and
# FOLDER/libsvm_fuzz.
# CXX chooses the compiler, SANITIZERS other ones (such as thread), OPTIMIZE a level; none compiles in a
# third of the time of -O1.
set -eu
cd "$(dirname "$0")/.."
out=$1
mkdir -p "$out"
flags="-std=c++17 ${OPTIMIZE:--O0} -g1 -fno-omit-frame-pointer -I. -pthread
  -fsanitize=${SANITIZERS:-address,undefined} -fno-sanitize-recover=all -Wall -Wextra"
objects=""
jobs=""
for source in text/buffer text/diagnose text/form text/parse text/rows text/scan text/write \
    tests/text_test fuzz/libsvm_fuzz; do
  ${CXX:-g++} $flags -c "$source.cc" -o "$out/$(basename $source).o" &
  jobs="$jobs $!"
done
for job in $jobs; do
  wait "$job"
done
for source in buffer diagnose form parse rows scan write; do
  objects="$objects $out/$source.o"
done
for program in text_test libsvm_fuzz; do
  ${CXX:-g++} $flags "$out/$program.o" $objects -o "$out/$program"
done
${CXX:-g++} $flags tests/rows_test.cc -o "$out/rows_test"
