#!/bin/bash
# Environment of the toolkit: source it.
toolkit_root="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)"
export ASCEND_HOME_PATH="${toolkit_root}"
export ASCEND_TOOLKIT_HOME="${toolkit_root}"
export ASCEND_OPP_PATH="${toolkit_root}/opp"
export LD_LIBRARY_PATH="${toolkit_root}/lib64${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"
export CMAKE_PREFIX_PATH="${toolkit_root}/lib64/cmake${CMAKE_PREFIX_PATH:+:${CMAKE_PREFIX_PATH}}"
unset toolkit_root
