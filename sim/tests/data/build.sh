#!/usr/bin/env bash
# Builds probe.<arch>.hsaco with clang-22 (the committed files came from it).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for arch in gfx942 gfx950; do
  clang-22 -x hip "--offload-arch=$arch" -nogpulib -nogpuinc --cuda-device-only \
    --no-gpu-bundle-output -O2 -fno-ident -fuse-cuid=none -mcode-object-version=5 \
    probe.hip -o "probe.$arch.hsaco"
  chmod 644 "probe.$arch.hsaco"
done
