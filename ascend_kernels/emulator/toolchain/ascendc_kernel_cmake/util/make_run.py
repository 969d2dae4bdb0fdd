#!/usr/bin/env python3
"""Pack an installed package tree into a self-extracting installer, custom_opp_<arch>.run."""

from __future__ import annotations

import argparse
import base64
import io
import tarfile
from pathlib import Path

HEADER = r"""#!/bin/bash
# Installs the operators of vendor @VENDOR@.
#   --install-path=<path>   into <path>/vendors/@VENDOR@ instead of $ASCEND_OPP_PATH
#   --extract=<path>        only unpacks
set -euo pipefail
target="${ASCEND_OPP_PATH:-}"
custom=0
extract=""
for argument in "$@"; do
  case "${argument}" in
    --install-path=*) target="${argument#*=}"; custom=1 ;;
    --extract=*) extract="${argument#*=}" ;;
    --quiet|--force) ;;
    --help) sed -n '2,5p' "$0"; exit 0 ;;
    *) echo "unknown option ${argument}; try --help" >&2; exit 2 ;;
  esac
done
payload() { sed '1,/^__PAYLOAD__$/d' "$0" | base64 -d; }
if [ -n "${extract}" ]; then
  mkdir -p "${extract}"
  payload | tar xz -C "${extract}"
  exit 0
fi
if [ -z "${target}" ]; then
  echo "ASCEND_OPP_PATH is not set: source set_env.sh of the toolkit, or give --install-path" >&2
  exit 1
fi
mkdir -p "${target}/vendors"
if [ ! -w "${target}/vendors" ]; then
  echo "${target}/vendors is not writable by $(id -un)" >&2
  exit 1
fi
# Unpacked beside the final place, then renamed: a failure half way leaves what was there.
staging="$(mktemp -d "${target}/vendors/.@VENDOR@.XXXXXX")"
trap 'rm -rf "${staging}"' EXIT
payload | tar xz -C "${staging}"
old="${target}/vendors/@VENDOR@"
[ ! -e "${old}" ] || mv "${old}" "${staging}/replaced"
mv "${staging}/vendors/@VENDOR@" "${old}"
chmod -R a+rX "${old}"
if [ "${custom}" = 1 ]; then
  echo "installed; before use: source ${old}/bin/set_env.bash"
  exit 0
fi
config="${target}/vendors/config.ini"
others=""
if [ -f "${config}" ]; then
  others="$(sed -n 's/^load_priority=//p' "${config}" | tr ',' '\n' |
    grep -vx '@VENDOR@' | grep -v '^$' | paste -sd, - || true)"
fi
printf 'load_priority=@VENDOR@%s\n' "${others:+,${others}}" > "${config}.new"
mv "${config}.new" "${config}"
echo "installed in ${old}"
exit 0
__PAYLOAD__
"""


def main() -> None:
    """Write the installer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True, help="folder that holds vendors/")
    parser.add_argument("--vendor", required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(args.tree / "vendors" / args.vendor, f"vendors/{args.vendor}")
    text = HEADER.replace("@VENDOR@", args.vendor)
    args.output.write_text(text + base64.encodebytes(buffer.getvalue()).decode())
    args.output.chmod(0o755)


if __name__ == "__main__":
    main()
