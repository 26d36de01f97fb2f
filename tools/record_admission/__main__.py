"""Records decisions of SGLang's own prefill admission on a CPU, for `tune admit --oracle`.

    record_admission --out DIR                      record all files of `families.FILES` into DIR
    record_admission --out DIR --files clamped      record some of them
    record_admission --out DIR --families retract   some families; the others of their file are kept
    record_admission --check FILE.json              replay a recording and compare every pass
    record_admission --time FILE.json               replay a recording and print the time it takes

Run it as `python tools/record_admission`. Needs torch and what `sglang.srt.managers.scheduler`
imports: orjson msgspec psutil pydantic pyzmq setproctitle pybase64 pillow einops fastapi uvicorn uvloop
aiohttp transformers prometheus-client xxhash zstandard regex IPython python-multipart
partial_json_parser scipy interegular cloudpickle easydict requests tqdm torchvision apache-tvm-ffi
dill sentencepiece compressed-tensors gguf openai.
"""

import argparse
import json
import logging
import os
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

import families
import gate
import passes
import replay
import server
import workers

SIZERS = dict(coef=dict(a=[2e-6, 1e-3, 5.0], b=[4e-7, 8e-3, 20.0]), smooth_factor=0.75)
"""SGLang's own sizer in scenarios that have it."""


def sglang():
    """Version of the SGLang that is imported here."""
    try:
        return version("sglang")
    except PackageNotFoundError:
        from sglang.version import __version__

        return __version__


def record(file, path, arguments):
    """Records the scenarios of one file. Those in which the real code gives up are counted."""
    scenarios = list(families.scenarios(file, arguments.seed, arguments.families))
    if not scenarios:
        return
    kept, dropped = [], {}
    if arguments.families and path.exists():
        old = json.loads(path.read_text())
        kept = [s for s in old["scenarios"] if s["fam"] not in arguments.families]
        dropped = {
            why: count
            for why, count in old["meta"]["dropped"].items()
            if why.split(":")[0] not in arguments.families
        }
    whole = dict(prompt_sets={}, meta=SIZERS)
    run = lambda s: passes.run(whole, s, most_passes=arguments.passes)
    results = workers.run(run, scenarios, arguments.jobs, arguments.seconds)
    for number, (s, (done, why)) in enumerate(zip(scenarios, results), 1):
        if done is None:
            reason = s["fam"] + ": " + re.sub(r"\d+", "N", why)[:100]
            dropped[reason] = dropped.get(reason, 0) + 1
        else:
            kept.append(done)
        if sys.stderr.isatty():
            print(f"\r{file}: {number} of {len(scenarios)}", end="\r", file=sys.stderr, flush=True)
    order = [family.__name__ for family in families.FILES[file]]
    kept.sort(key=lambda s: order.index(s["fam"]))
    kept = [dict(s, id=number) for number, s in enumerate(kept)]
    meta = dict(
        sglang=sglang(), torch=torch.__version__, seed=arguments.seed, pass_fields=passes.FIELDS,
        event_fields=passes.EVENT_FIELDS, dropped=dropped, exact_fill_gate=gate.rows(), **SIZERS,
    )
    text = json.dumps(dict(meta=meta, prompt_sets={}, scenarios=kept), separators=(",", ":"))
    partial = path.with_suffix(".partial")
    partial.write_text(text + "\n")
    partial.replace(path)
    print(f"{path.name}: {len(kept)} scenarios, {sum(len(s['passes']) for s in kept)} passes")
    for reason, count in sorted(dropped.items()):
        print("  left out", count, reason)


def check(path, arguments):
    """Compares a recording with the real code; how many scenarios differ."""
    recording = json.loads(path.read_text())
    scenarios = recording["scenarios"][: arguments.limit]
    compare = lambda s: replay.compare(recording, s)
    results = workers.run(compare, scenarios, arguments.jobs, arguments.seconds)
    different = 0
    for s, (difference, why) in zip(scenarios, results):
        if difference or why:
            different += 1
            print("scenario", s["id"], s["fam"], difference or why)
    print(len(scenarios), "scenarios,", different, "differ")
    return different


def main():
    known = [family.__name__ for file in families.FILES.values() for family in file]
    parser = argparse.ArgumentParser(
        prog="record_admission", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, metavar="DIR")
    parser.add_argument("--files", nargs="*", choices=list(families.FILES), default=list(families.FILES))
    parser.add_argument("--families", nargs="*", choices=known)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--passes", type=int, default=130, help="leave out scenarios with more passes")
    parser.add_argument("--seconds", type=float, default=60, help="limit of one scenario")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--check", type=Path, metavar="FILE.json")
    parser.add_argument("--time", type=Path, metavar="FILE.json")
    parser.add_argument("--every", type=int, default=1, help="time every so many scenarios")
    parser.add_argument("--limit", type=int, default=None, help="check the first so many scenarios")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    server.prepare()
    if arguments.out:
        for file in arguments.files:
            record(file, arguments.out / f"sglang-{sglang()}-admission-{file}.json", arguments)
    if arguments.time:
        replay.clock(json.loads(arguments.time.read_text()), arguments.every)
    if arguments.check:
        sys.exit(check(arguments.check, arguments) > 0)


if __name__ == "__main__":
    main()
