"""Compiles the public Triton kernels behind published timings, without a GPU.

In go a CSV of published timings and an AITER checkout; out come code objects and, for every row, the
launches that AITER's own Python would make for that shape. Nothing here needs a GPU, torch or an
installed AITER: tensors are shapes and strides (`shapes`), and a launch is recorded, not run
(`recorder`).
"""
