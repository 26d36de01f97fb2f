"""SGLang's own lines that change chunk, page and truncation alignment, run without torch.

`python -m tests.settings WHEEL VERSION`: every line of stdin is a JSON object of server arguments;
every line of stdout says what the wheel's code makes of them, or with `LINES` as the version, every
line of stdin is `[file, line]` and the answer is that line. Functions are cut out of the wheel with
`ast` and run as they are; names that they take from elsewhere are stood in for.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import zipfile
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

DEFAULTS = {
    "page_size": None,
    "chunked_prefill_size": None,
    "max_prefill_tokens": 16384,
    "attention_backend": None,
    "prefill_attention_backend": None,
    "decode_attention_backend": None,
    "speculative_draft_attention_backend": None,
    "tp_size": 1,
    "dp_size": 1,
    "attn_dp_size": 1,
    "attn_cp_size": 1,
    "pp_size": 1,
    "enable_dp_attention": False,
    "enable_dp_lm_head": False,
    "enable_prefill_cp": False,
    "enable_dynamic_chunking": False,
    "enable_deterministic_inference": False,
    "enable_kv_cache_sharding": False,
    "moe_a2a_backend": "none",
    "disaggregation_mode": "prefill",
    "schedule_conservativeness": 1.0,
    "kv_cache_dtype": "auto",
}
DISABLED = object()


class Names(dict):
    """Globals of a function that was cut out; what is not given is a mock."""

    def __missing__(self, name: str) -> Any:
        if hasattr(__builtins__, name):
            return getattr(__builtins__, name)
        return MagicMock(name=name)


class Wheel:
    """Source files of a wheel, and pieces of them that can be run."""

    def __init__(self, path: str) -> None:
        self.archive = zipfile.ZipFile(path)
        self._texts: dict[str, str] = {}
        self._functions: dict[str, dict[str, ast.FunctionDef]] = {}

    def text(self, file: str) -> str:
        if file not in self._texts:
            self._texts[file] = self.archive.read(f"sglang/srt/{file}").decode()
        return self._texts[file]

    def _find(self, file: str, name: str) -> ast.FunctionDef:
        if file not in self._functions:
            nodes = ast.walk(ast.parse(self.text(file)))
            found = [node for node in nodes if isinstance(node, ast.FunctionDef)]
            # The first of a name counts.
            self._functions[file] = {node.name: node for node in reversed(found)}
        return self._functions[file][name]

    def function(self, file: str, name: str, **names: Any) -> Any:
        """A function or method by its name."""
        node = self._find(file, name)
        node.decorator_list, node.returns = [], None
        for argument in (*node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        return self._run([node], names)[name]

    def statements(self, file: str, function: str, holding: str, names: dict[str, Any]) -> dict:
        """Runs the statements of a function that hold a text, each as a whole, in order."""
        lines = self.text(file).splitlines()
        body = self._find(file, function).body
        found = [s for s in body if holding in "\n".join(lines[s.lineno - 1 : s.end_lineno])]
        assert found, f"{file}: {function} has no {holding!r}"
        return self._run(found, names)

    def _run(self, nodes: list[ast.stmt], names: dict[str, Any]) -> dict:
        scope = Names(names)
        exec(compile(ast.Module(nodes, []), "wheel", "exec"), scope)  # noqa: S102
        return scope


def platform(**more: bool) -> SimpleNamespace:
    """ROCm."""
    return SimpleNamespace(is_hip=True, is_musa=False, is_sm100=False, is_cuda=False, **more)


def layout() -> SimpleNamespace:
    """`sglang.srt.environ.envs` as far as the functions ask."""
    text = os.environ.get("SGLANG_AITER_KV_CACHE_LAYOUT", "")
    return SimpleNamespace(
        SGLANG_AITER_KV_CACHE_LAYOUT=SimpleNamespace(get=lambda: text),
        SGLANG_OPT_DEEPGEMM_MEGA_MOE_NUM_MAX_TOKENS_PER_RANK=SimpleNamespace(get=lambda: 0),
    )


def declare(cfg: SimpleNamespace) -> Any:
    """`declare_resolution` that changes the arguments at once, as its reader sees them."""
    return lambda server_args, source, **fields: cfg.__dict__.update(fields)


def no_graphs(cfg: SimpleNamespace) -> None:
    prefill = SimpleNamespace(backend=DISABLED, max_bs=None)
    cfg.cuda_graph_config = SimpleNamespace(prefill=prefill, decode=prefill)


def page(wheel: Wheel, version: str, cfg: SimpleNamespace) -> int:
    if version == "0.5.10":
        cfg.use_mla_backend = lambda: True
        names = dict(self=cfg, is_blackwell_supported=lambda: True)
        file, names["is_sm100_supported"] = "server_args.py", lambda: True
        for text in ("self.page_size = 64", "self.page_size = 128"):
            holding = f"            {text}"
            wheel.statements(file, "_handle_attention_backend_compatibility", holding, names)
        wheel.function(file, "_handle_page_size")(cfg)
        return cfg.page_size
    file = "arg_groups/overrides.py"
    names = dict(get_platform=platform, envs=layout(), is_hip=lambda: True, is_musa=lambda: False)
    for rule in ("_mla_backend_page_constraints", "_page_size_default"):
        cfg.__dict__.update(wheel.function(file, rule, **names)(cfg))
    return cfg.page_size


def chunk(wheel: Wheel, version: str, cfg: SimpleNamespace) -> int | None:
    if cfg.chunked_prefill_size is None:
        return None
    no_graphs(cfg)
    names = dict(Backend=SimpleNamespace(DISABLED=DISABLED), declare_resolution=declare(cfg))
    if version == "0.5.23":
        if cfg.enable_dp_attention and cfg.attn_dp_size == 1:
            cfg.attn_dp_size, cfg.dp_size = cfg.dp_size, 1
        envs = SimpleNamespace(SGLANG_RUST_SERVER=SimpleNamespace(get=lambda: False))
        names |= dict(cfg=cfg, server_args=cfg, resolved_view=lambda _: cfg, envs=envs)
        names["attn_dp_enabled_of"] = lambda view: view.attn_dp_size > 1
        file, function = "arg_groups/parallel_hook.py", "handle_data_parallelism"
        wheel.statements(file, function, "chunked_prefill_size //", names)
        if cfg.enable_kv_cache_sharding:
            cfg._raw_input = {"mem_fraction_static": 0.8}
            names |= dict(page_size=cfg.page_size, chunk_size=cfg.chunked_prefill_size)
            names["declarations"] = cfg.__dict__
            file, function = "arg_groups/kv_shard_hook.py", "handle_kv_cache_sharding"
            wheel.statements(file, function, 'declarations["chunked_prefill_size"]', names)
        return cfg.chunked_prefill_size
    cfg._resolved = lambda: cfg
    if cfg.dp_size == 1:
        cfg.enable_dp_attention = False
    names["self"] = cfg
    text = "self.chunked_prefill_size // self.dp_size"
    wheel.statements("server_args.py", "_handle_data_parallelism", text, names)
    return cfg.chunked_prefill_size


def truncation(wheel: Wheel, version: str, cfg: SimpleNamespace) -> int | None:
    read = wheel.function("utils/common.py", "get_int_env_var", os=os)
    deterministic = SimpleNamespace(enable_deterministic_inference=cfg.enable_deterministic_inference)
    names = dict(
        get_int_env_var=read,
        get_exec=lambda: SimpleNamespace(deterministic=deterministic),
        attention_backends=lambda: (
            cfg.prefill_attention_backend or cfg.attention_backend,
            cfg.decode_attention_backend or cfg.attention_backend,
        ),
    )
    scheduler = SimpleNamespace(server_args=cfg)
    name = "init_deterministic_inference_config"
    wheel.function("managers/scheduler.py", name, **names)(scheduler)
    return scheduler.truncation_align_size


def buffers(wheel: Wheel, version: str, cfg: SimpleNamespace) -> int | None:
    """Rows of prefill buffers; only where the sizer is on."""
    if version == "0.5.10" or not (cfg.enable_dynamic_chunking and cfg.pp_size > 1):
        return None
    import math

    names = dict(
        math=math,
        resolving_view=lambda _: cfg,
        prefill_buffer_ceiling_of=lambda record, tokens: tokens,
        ResolvedView=type("ResolvedView", (), {}),
        ResolvingConfig=type("ResolvingConfig", (), {}),
    )
    file = "server_args.py" if version == "0.5.16" else "arg_groups/overrides.py"
    return wheel.function(file, "max_prefill_buffer_tokens", **names)(cfg)


def mega_moe(wheel: Wheel, version: str, cfg: SimpleNamespace) -> int | None:
    """Tokens of a rank, as the refusal of a room of none names them."""
    if version != "0.5.23" or cfg.moe_a2a_backend != "megamoe":
        return None
    names = dict(
        resolving_view=lambda _: cfg,
        get_platform=lambda: SimpleNamespace(is_hip=False),
        envs=layout(),
        attn_dp_enabled_of=lambda view: view.attn_dp_size > 1,
    )
    file = "arg_groups/mega_moe_hook.py"
    try:
        wheel.function(file, "validate_mega_moe_token_budget", **names)(cfg, "model")
    except ValueError as error:
        return int(str(error).split("required_per_rank=")[1].split(",")[0])
    return None


def main() -> int:
    """Command line; returns the exit status."""
    path, version = sys.argv[1:]
    wheel = Wheel(path)
    for line in sys.stdin:
        given = json.loads(line)
        if version == "LINES":
            file, number = given
            print(json.dumps(wheel.text(file).splitlines()[number - 1]))
            continue
        os.environ.update(given.pop("env", {}))
        cfg = SimpleNamespace(**DEFAULTS | given)
        found = {"page": page(wheel, version, cfg)}
        found["chunk"] = chunk(wheel, version, cfg)
        found["truncation"] = truncation(wheel, version, cfg)
        found["buffers"] = buffers(wheel, version, cfg)
        found["mega_moe"] = mega_moe(wheel, version, cfg)
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
