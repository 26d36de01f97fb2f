"""Runs SGLang with the prefill chunk sizes of a chunktune ``sizer.json``.

SGLang loads the plugin through the entry point in the group ``sglang.srt.plugins``; versions
without plugins load it through ``python -m chunktune_sglang.sitecustomize DIR``. The environment
steers it:

``CHUNKTUNE_SIZER``              path of ``sizer.json``; read by rank 0 of the world group only
``CHUNKTUNE_ALLOW_UNVALIDATED``  1: also take a config whose status is ``unvalidated``
``CHUNKTUNE_STRICT``             1: refuse to start where the config cannot be installed
``CHUNKTUNE_DEVICE_ARCH``        architecture to assume where no GPU can be asked for it
"""

__version__ = "0.1.0"
