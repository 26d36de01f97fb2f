"""Exports the Triton kernels that a server deploys into a kernel pack.

``python -m chunktune_sglang.export_kernels --arch gfx950 --out DIR`` compiles AITER's kernels with
the installed ``triton``, for the tiles that SGLang and AITER choose, with no GPU and without
importing AITER. ``tune --kernels DIR`` measures such a pack.
"""
