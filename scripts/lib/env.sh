# Shared by the scripts: a Python, a compiler, a virtual environment with ascendfa in it.
# Sourced, not run. Needs bash; leaves $ROOT, $VENV and $PY set.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
VENV=${ASCENDFA_VENV:-$ROOT/.venv}
PY=$VENV/bin/python

say() { printf '\033[1m==> %s\033[0m\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# apt_or_die COMMAND-THAT-MUST-WORK PACKAGE...: installs when root on a Debian family, else says how.
apt_or_die() {
  local probe=$1; shift
  eval "$probe" >/dev/null 2>&1 && return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing $*"
    { apt-get install -y -qq "$@" || { apt-get update -qq && apt-get install -y -qq "$@"; }; } \
      >/dev/null 2>&1 || true
    eval "$probe" >/dev/null 2>&1 && return 0
  fi
  if command -v apt-get >/dev/null; then
    die "$* is needed. Install it with:  sudo apt-get update && sudo apt-get install -y $*"
  fi
  die "the Debian packages '$*' or their equivalent are needed; install them with your package manager"
}

find_python() {
  local p
  for p in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.10; do
    [ -n "$p" ] && command -v "$p" >/dev/null || continue
    "$p" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && { echo "$p"; return; }
  done
  die "Python 3.10 or newer is needed; set PYTHON=/path/to/python3"
}

cxx17_works() {
  local out
  out=$(mktemp -d) || return 1
  printf '#include <filesystem>\n#include <optional>\nint main() { return std::optional<int>(0).value(); }\n' >"$out/t.cpp"
  "${CXX:-g++}" -std=c++17 -o "$out/t" "$out/t.cpp" >/dev/null 2>&1
  local rc=$?
  rm -rf "$out"
  return $rc
}

# A venv of the project's own, so that nothing on the machine is changed.
ensure_venv() {
  local python
  python=$(find_python) || exit 1
  apt_or_die cxx17_works g++
  if [ ! -x "$PY" ] || ! "$PY" -m pip --version >/dev/null 2>&1; then
    apt_or_die "'$python' -c 'import venv, ensurepip'" python3-venv
    say "creating $VENV with $("$python" --version)"
    "$python" -m venv "$VENV" || die "could not create the virtual environment $VENV"
  fi
  # What Debian 12 and Ubuntu 22.04 bring along is too old for -C.
  "$PY" -m pip install --quiet --disable-pip-version-check 'pip>=23.1' ||
    die "could not bring pip up to date in $VENV"
}

# install_ascendfa EXTRAS [PIP-ARGUMENT...]: builds and installs the checkout into the venv.
install_ascendfa() {
  local extras=$1; shift
  say "building ascendfa (toolkit, op package, Python); the first build takes a minute or two"
  "$PY" -m pip install --quiet --disable-pip-version-check "$@" "$ROOT$extras" ||
    die "the build failed; see the messages above"
}

# What predicting needs: ascendfa, and a cmake to build the anchor operators with.
ensure_predictions() {
  ensure_venv
  install_ascendfa "[cli]" -C build-dir="$ROOT/build/pip"
  "$PY" -m pip install --quiet --disable-pip-version-check 'cmake>=3.20' 'matplotlib>=3.8' ||
    die "could not install cmake and matplotlib into $VENV"
}

# torch_npu and ascendfa in a venv of their own, and the variables to run them on the emulator.
ensure_torch_npu() {
  local cpu_builds=https://download.pytorch.org/whl/cpu toolkit
  VENV=${ASCENDFA_NPU_VENV:-$ROOT/.venv-npu}
  PY=$VENV/bin/python
  ensure_venv
  case "$(uname -sm)" in
    "Linux x86_64" | "Linux aarch64") ;;
    *) die "torch_npu exists for Linux on x86_64 and aarch64 only" ;;
  esac
  # Elsewhere torch for x86_64 comes with gigabytes of CUDA.
  local probe='import urllib.request as u; u.urlopen("'$cpu_builds'/torch/", timeout=5)'
  local index=()
  "$PY" -I -c "$probe" 2>/dev/null && index=(--extra-index-url "$cpu_builds")
  say "installing torch 2.13.0 and torch_npu 2.13.0 in $VENV"
  "$PY" -m pip install --quiet --disable-pip-version-check "${index[@]}" \
    torch==2.13.0 torch-npu==2.13.0 ||
    die "torch 2.13.0 or torch_npu 2.13.0 could not be installed for $("$PY" --version); set PYTHON to another one and remove $VENV"
  install_ascendfa "[cli]" -C build-dir="$ROOT/build/pip"
  toolkit=$("$PY" -I -c 'from ascendfa.native.backend import PACKAGED_TOOLKIT as t; print(t)')
  export LD_LIBRARY_PATH=$toolkit/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  # Without it, an operator that is missing fails later, elsewhere, and once only.
  export ACL_OP_INIT_MODE=2
  # Of a CANN that may be installed too.
  unset ASCEND_HOME_PATH ASCEND_OPP_PATH ASCEND_CUSTOM_OPP_PATH
  unset ASCENDFA_BACKEND ASCENDFA_EMULATOR_HOME
}
