#!/bin/sh
# Sets up what the Makefile needs: `tools/setup.sh tools` makes .venv with every package that rarefy and
# its development use; `tools/setup.sh build` builds the C++ module into it (incremental). What the
# machine lacks is said in one sentence with the remedy.
#
# Environment: PYTHON (which interpreter; default: the first fit one on PATH), CXX (which compiler).
set -eu
cd "$(dirname "$0")/.."

VENV=.venv
CANDIDATES="python3.13 python3.12 python3.11 python3 python3.14 python"
VERSION_PROBE='import sys; print("%d.%d.%d" % sys.version_info[:3])'
FIT_PROBE='
import sys
if sys.version_info < (3, 11): sys.exit("it is older than 3.11")
try:
    import ensurepip, venv
except ImportError:
    sys.exit("it lacks the venv module")
import os, sysconfig
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    sys.exit("its C headers (Python.h) are missing")
'

die() {
  printf 'rarefy: %s\n' "$*" >&2
  exit 1
}

runs() { "$1" -c "$VERSION_PROBE" >/dev/null 2>&1; }

remedy() {  # what to do about the reason $1 why Python $2 is not fit
  case $1 in
    *venv*) echo "install it (Debian/Ubuntu: apt-get install python$2-venv), or name another Python: make PYTHON=/path/to/python3.12" ;;
    *headers*) echo "install them (Debian/Ubuntu: apt-get install python$2-dev; Fedora: dnf install python3-devel), or name another Python: make PYTHON=/path/to/python3.12" ;;
    *) echo "install Python 3.11 or newer (Debian/Ubuntu: apt-get install python3 python3-venv python3-dev; macOS: brew install python), or name one: make PYTHON=/path/to/python3.12" ;;
  esac
}

find_python() {  # sets $python to a fit interpreter
  first_reason= first_version= first_name=
  for name in ${PYTHON:-$CANDIDATES}; do
    runs "$name" || continue
    if reason=$("$name" -c "$FIT_PROBE" 2>&1); then
      python=$name
      return
    fi
    version=$("$name" -c "$VERSION_PROBE")
    # A Python that is new enough but incomplete is the better one to tell about.
    case $first_reason in
      "" | *older*) first_reason=$reason first_version=$version first_name=$name ;;
    esac
  done
  if [ -n "$first_reason" ]; then
    die "$first_name (Python $first_version) cannot be used: $first_reason; $(remedy "$first_reason" "${first_version%.*}")."
  fi
  if [ -n "${PYTHON:-}" ]; then
    die "PYTHON=$PYTHON does not run; give the path of a Python that is 3.11 or newer."
  fi
  die "no Python was found on PATH (tried $CANDIDATES); $(remedy none 3)."
}

check_compiler() {
  for compiler in ${CXX:+"$CXX"} c++ g++ clang++; do
    command -v "${compiler%% *}" >/dev/null 2>&1 && break
    compiler=
  done
  if [ -z "$compiler" ]; then
    die "no C++ compiler was found (tried ${CXX:+$CXX, }c++, g++, clang++); install one (Debian/Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install), or name it: make CXX=/path/to/g++."
  fi
  probe=$(mktemp -d)
  printf '#include <filesystem>\n#include <optional>\nint main() { if constexpr (true) return std::optional<int>(0).value(); }\n' >"$probe/probe.cc"
  # $compiler may carry options (CXX="g++ -m64"), so it is not quoted.
  if ! $compiler -std=c++17 -o "$probe/probe" "$probe/probe.cc" 2>"$probe/log"; then
    cat "$probe/log" >&2
    rm -rf "$probe"
    die "$compiler does not compile C++17 (its messages stand above); install g++ 9 or clang 10 or newer, or name another compiler: make CXX=/path/to/g++."
  fi
  rm -rf "$probe"
}

pip_install() {  # what is installed ($1, for the message), then pip's arguments
  what=$1
  shift
  log=$(mktemp)
  if ! "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >"$log" 2>&1; then
    cat "$log" >&2
    if grep -qiE 'connection|resolve host|name resolution|timed out|ProxyError|No matching distribution|Network is unreachable' "$log"; then
      rm -f "$log"
      die "$what: pip could not fetch a package (its messages stand above); connect to a network, or point pip at a mirror with PIP_INDEX_URL or at a folder of wheels with PIP_FIND_LINKS."
    fi
    rm -f "$log"
    die "$what failed; pip's messages stand above."
  fi
  rm -f "$log"
}

make_tools() {
  find_python
  check_compiler
  # A .venv that was moved, or whose interpreter is gone, too old or not the one asked for, is made anew.
  if [ -e "$VENV" ]; then
    if [ -e "$VENV/.tools" ] && [ "$(cat "$VENV/.tools")" != "$PWD" ]; then
      rm -rf "$VENV"
    elif ! "$VENV/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      rm -rf "$VENV"
    elif [ -n "${PYTHON:-}" ] &&
      [ "$("$VENV/bin/python" -c "$VERSION_PROBE")" != "$("$python" -c "$VERSION_PROBE")" ]; then
      rm -rf "$VENV"
    fi
  fi
  if ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    echo "rarefy: making $VENV with $python ($("$python" -c "$VERSION_PROBE"))"
    rm -rf "$VENV"
    "$python" -m venv "$VENV" || die "$python -m venv failed; on Debian/Ubuntu: apt-get install python3-venv."
  fi
  echo "rarefy: installing packages into $VENV (once; some minutes on a slow line)"
  "$VENV/bin/python" - <<'PY' >"$VENV/requirements.txt"
import tomllib

with open("pyproject.toml", "rb") as file:
    settings = tomllib.load(file)
project = settings["project"]
print(*settings["build-system"]["requires"], *project["dependencies"], sep="\n")
print(*project["optional-dependencies"]["dev"], sep="\n")
PY
  pip_install "installing packages" -r "$VENV/requirements.txt"
  printf '%s\n' "$PWD" >"$VENV/.tools"
}

make_build() {
  check_compiler
  echo "rarefy: building the C++ module"
  # The build sees the packages of .venv, so that a later build compiles only what changed.
  PATH="$PWD/$VENV/bin:$PATH"
  export PATH
  pip_install "building rarefy" --no-build-isolation --no-deps -e .
  printf '%s\n' "$PWD" >"$VENV/.build"
}

case ${1:-} in
  tools) make_tools ;;
  build) make_build ;;
  *) die "usage: tools/setup.sh tools|build" ;;
esac
