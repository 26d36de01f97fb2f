#!/usr/bin/env bash
# Compiles every kernels/*.hip for every target into kernels/prebuilt/<arch>/<name>.hsaco.
#
#   build.sh           build and replace the prebuilt objects
#   build.sh --check   build elsewhere and compare with the prebuilt objects, byte for byte
#
# The compiler is $HIPCC if set, else clang-22, else hipcc. No ROCm headers or device libraries are
# needed. The same compiler version gives the same bytes wherever the tree lies; its version is
# recorded in prebuilt/compiler.txt, and --check says when it differs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

archs=(gfx942 gfx950)
mode=${1:-build}
case $mode in build | --check) ;; *) echo "usage: build.sh [--check]" >&2; exit 2 ;; esac

compiler=${HIPCC:-}
for candidate in clang-22 hipcc; do
  [[ -n $compiler ]] || compiler=$(command -v "$candidate" || true)
done
if [[ -z $compiler ]]; then
  echo "build.sh: no compiler: install clang-22 and lld-22, or set HIPCC" >&2
  exit 1
fi

flags=(-x hip -std=c++17 -O3 -Wall -Wextra -Werror -nogpulib -nogpuinc -mcode-object-version=5
  --cuda-device-only --no-gpu-bundle-output -fno-ident -fuse-cuid=none)

out=prebuilt
if [[ $mode == --check ]]; then
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi

for arch in "${archs[@]}"; do
  mkdir -p "$out/$arch"
  for source in *.hip; do
    "$compiler" "${flags[@]}" "--offload-arch=$arch" "$source" -o "$out/$arch/${source%.hip}.hsaco"
    chmod 644 "$out/$arch/${source%.hip}.hsaco"
  done
done
"$compiler" --version | sed -n 's/.*\(clang version [0-9.]*\).*/\1/p' | head -n 1 >"$out/compiler.txt"

if [[ $mode == --check ]]; then
  if ! diff -r prebuilt "$out"; then
    echo "build.sh: prebuilt objects do not match their sources; run kernels/build.sh with" \
      "$(cat prebuilt/compiler.txt) and commit the result" >&2
    exit 1
  fi
  echo "prebuilt objects match their sources ($(cat prebuilt/compiler.txt))"
fi
