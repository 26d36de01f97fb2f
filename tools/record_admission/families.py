"""Made-up scenarios: a server and requests that all wait at the start, by family.

Each family is a function from its own random stream to scenarios, so that one can be recorded
without the others. `FILES` says which families make up a file of recorded decisions.
"""

import random

PAGES = [1, 8, 64, 256]


def base(fam, rng, page, **more):
    """A scenario with a server around `page` and tight enough to reach every verdict."""
    chunk = page * rng.choice([4, 8, 16, 32]) if page > 1 else rng.choice([64, 200, 512, 2048])
    count = rng.randint(4, 24)
    longest = rng.choice([chunk // 2, chunk * 2, chunk * 5]) + 2
    prompts = [rng.randint(1, longest) for _ in range(count)]
    hits = [0] * count
    if rng.random() < 0.5:
        hits = [rng.choice([0, p // 2 // page * page]) for p in prompts]
    new = rng.choice([1, 8, None])
    s = dict(
        fam=fam, exact=rng.randint(0, 1), page=page, chunk=chunk,
        max_prefill=rng.choice([chunk, chunk * 2, max(page, chunk // 2), 16384]),
        prompts=prompts, hits=hits if any(hits) else None,
        max_new=new or [rng.choice([1, 3, 10, 40]) for _ in prompts],
        ignore_eos=rng.randint(0, 1), radix=1, mixed=0, pmr=None, sizer=None,
        kv=(max(prompts) + rng.choice([300, 3000, 30000]) + 2 * page) // page * page,
    )
    s.update(more)
    return s


def new_tokens(s, rng, *choices):
    """Different output lengths for the requests of `s`."""
    s["max_new"] = [rng.choice(choices or [1, 3, 10, 40]) for _ in s["prompts"]]


def align(rng):
    """Cuts at multiples of `truncation_align_size`."""
    for i in range(50):
        page = PAGES[i % 4]
        s = base("align", rng, page)
        s["align"] = rng.choice([page, 2 * page, 3 * page, 96, 4 * page])
        s["mixed"] = int(rng.random() < 0.2)
        yield s


def tile(rng):
    """A limit of attention tiles."""
    for i in range(60):
        s = base("tile", rng, PAGES[i % 4])
        s["tile"] = dict(
            budget=rng.choice([1, 2, 4, 8, 20, 64]), mode=rng.choice(["compact", "legacy"]),
            block_m=rng.choice([32, 64, 128]),
        )
        s["radix"] = rng.randint(0, 1)
        if not s["radix"]:
            s["hits"] = None
        yield s


def replay(rng):
    """The last rows of a cached prefix run again."""
    for i in range(50):
        page = PAGES[i % 4]
        s = base("replay", rng, page, replay=1)
        s["hits"] = [rng.choice([0, (p - 1) // page * page, p // 3 // page * page]) for p in s["prompts"]]
        yield s


def rows(rng):
    """Few request slots."""
    for i in range(30):
        yield base("rows", rng, PAGES[i % 4], max_running=rng.randint(1, 6))


def swa_pool(s, rng):
    """A paged sliding-window pool from too small to ample."""
    page, window = s["page"], rng.choice([s["page"], 128, 512, 3 * s["page"] + 1])
    least = 2 * (window + s["chunk"]) + 4 * page
    size = (window + rng.randint(s["chunk"] // 4, 2 * least)) // page * page + page
    return dict(window=window, size=size, ring=None)


def swa(rng):
    """A sliding window in pages, without prefix cache."""
    for i in range(80):
        s = base("swa", rng, PAGES[i % 4], radix=0, hits=None)
        s["swa"] = swa_pool(s, rng)
        yield s


def ring(rng):
    """A sliding window in rings, without prefix cache."""
    for i in range(60):
        page = PAGES[i % 4]
        s = base("ring", rng, page, radix=0, hits=None, max_running=rng.randint(2, 8))
        window = rng.choice([page, 128, 512])
        s["swa"] = dict(window=window, size=page, ring=window + rng.choice([0, 1, page]))
        yield s


def ring_radix(rng):
    """Rings beside a prefix cache, for more tokens than a pass takes: no prefix is evicted for them."""
    for i in range(60):
        page = PAGES[1 + i % 3]
        s = base("ring_radix", rng, page, max_running=rng.randint(32, 64))
        window = rng.choice([page, 128, 256])
        length = max(window, (s["chunk"] + 24 * page) // 4) + page
        s["swa"] = dict(window=window, size=page, ring=length)
        yield s


def falling(s, rng, count):
    """Rows `[prefix_from, chunk]` with falling chunks, and their alignment."""
    page, most = s["page"], max(s["prompts"]) + 1
    starts = sorted(rng.sample(range(1, most + count), count))
    align = page * rng.choice([1, 1, 2])
    chunks = [max(s["chunk"] * rng.randint(1, 40) // 20 // align, 1) * align for _ in range(count + 1)]
    chunks.sort(reverse=True)
    return [list(row) for row in zip([0, *starts], chunks)], align


def table(s, rng, count):
    """A table of the plugin for scenario `s`, at the frontier or below it."""
    frontier, align = falling(s, rng, count)
    wanted = rng.choice([None, rng.choice([1, 2, 4, 8]) * align])
    rows = [[start, chunk if wanted is None else min(chunk, wanted)] for start, chunk in frontier]
    least = min(chunk for _, chunk in rows) if rng.random() < 0.5 else align
    most = max(s["prompts"]) + 1
    return dict(
        align=align, chunk_min=least, max_context=rng.choice([most, most * 3 // 4]), table=rows,
        frontier=rng.choice([[], frontier]) if wanted is None else frontier,
        tail_fraction=rng.choice([0, 0.25, 0.25, 0.5]),
    )


def cached(s, rng):
    """Long and short cached prefixes, and a pool that holds them."""
    page = s["page"]
    s["hits"] = [rng.choice([0, (p - 1) // page * page, p // 2 // page * page]) for p in s["prompts"]]
    s["kv"] += sum(s["hits"]) // page * page


def kinds(s, rng, kind):
    """What the plugin's clamp meets on a server, one kind a scenario."""
    if kind == 1:
        s["mixed"] = 1
        new_tokens(s, rng)
    elif kind == 2:
        s["replay"] = 1
    elif kind == 3:
        s.update(radix=0, hits=None)
    elif kind == 4:
        s["align"] = s["page"] * rng.choice([1, 2, 3])
    elif kind == 5:
        s.update(mixed=1, pmr=rng.choice([None, 2, 5]), max_running=rng.randint(2, 9))
        new_tokens(s, rng)


def clamp(rng):
    """The plugin on queues of requests."""
    for i in range(240):
        s = base("clamp", rng, PAGES[i % 4])
        s["clamp"] = table(s, rng, rng.randint(1, 8))
        cached(s, rng)
        kinds(s, rng, i // 4 % 6)
        yield s


def clamp_tail(rng):
    """The plugin on few requests that would end in tiny chunks."""
    for i in range(240):
        page = PAGES[i % 4]
        s = base("clamp_tail", rng, page)
        chunk = s["chunk"]
        count = rng.choice([1, 1, 2, 3])
        s["prompts"] = [
            rng.randint(1, 6) * chunk + rng.choice([0, chunk // 2]) + rng.randint(1, max(chunk // 3, 2))
            for _ in range(count)
        ]
        new_tokens(s, rng, 1, 3, 10)
        s["kv"] = (sum(s["prompts"]) + count * (12 + page)) // page * page + 2 * page
        s["clamp"] = table(s, rng, rng.randint(1, 4))
        s["clamp"]["tail_fraction"] = rng.choice([0.25, 0.25, 0.5])
        cached(s, rng)
        kind = i // 4 % 6
        kinds(s, rng, kind)
        if kind in (1, 5):
            # The first decodes while the others are prefilled.
            s["prompts"][:0] = [rng.randint(1, page) for _ in range(rng.randint(1, 5))]
            s["hits"] = [0] * (len(s["prompts"]) - count) + s["hits"]
            s["max_new"][:0] = [40] * (len(s["prompts"]) - count)
            s["kv"] += 6 * (48 + 2 * page) // page * page + page
        yield s


def retract(rng):
    """Running requests that outgrow the pool."""
    for i in range(72):
        page = PAGES[i % 3]
        s = base("retract", rng, page)
        s["chunk"] = page * rng.choice([4, 16]) if page > 1 else rng.choice([64, 256])
        s["prompts"] = [rng.randint(1, 150) for _ in range(rng.randint(4, 12))]
        new_tokens(s, rng, 30, 100, 250)
        longest = max(p + n for p, n in zip(s["prompts"], s["max_new"]))
        s["kv"] = (longest + 2 * page + rng.choice([60, 200, 500])) // page * page + page
        s.update(ignore_eos=0, radix=i // 3 % 2, mixed=i // 6 % 2, hits=None, max_prefill=16384)
        if i % 12 == 0:
            s["max_running"] = rng.randint(2, 4)
        yield s


def swa_mixed(rng):
    """A window in pages with decode rows in prefills."""
    for i in range(60):
        s = base("swa_mixed", rng, PAGES[i % 4], radix=0, hits=None, mixed=1)
        new_tokens(s, rng, 1, 3, 10, 40, 200)
        s["swa"] = swa_pool(s, rng)
        yield s


def ring_mixed(rng):
    """A window in rings with decode rows in prefills."""
    for i in range(40):
        page = PAGES[i % 4]
        s = base("ring_mixed", rng, page, radix=0, hits=None, mixed=1, max_running=rng.randint(2, 8))
        new_tokens(s, rng)
        s["swa"] = dict(window=rng.choice([page, 128, 512]), size=page, ring=512 + rng.choice([0, 1, page]))
        yield s


def clamp_swa(rng):
    """The plugin beside a sliding window."""
    for i in range(60):
        page = PAGES[i % 4]
        s = base("clamp_swa", rng, page, radix=0, hits=None)
        s["swa"] = swa_pool(s, rng)
        if i // 4 % 3 == 0:
            s["max_running"] = rng.randint(2, 8)
            s["swa"]["ring"] = s["swa"]["window"] + page
        elif i // 4 % 3 == 1:
            s["mixed"] = 1
            new_tokens(s, rng)
        s["clamp"] = table(s, rng, rng.randint(1, 8))
        yield s


def clamp_own(rng):
    """The plugin beside SGLang's own sizer."""
    for i in range(48):
        page = PAGES[i % 4]
        s = base("clamp_own", rng, page, context_len=1 << 20, sizer="ab"[i // 4 % 2])
        s["prompts"] = [p * 3 for p in s["prompts"]]
        s["max_prefill"] = s["chunk"] * rng.choice([1, 2, 4])
        s["kv"] = s["kv"] * 3 // page * page
        s["hits"] = [rng.choice([0, p // 2 // page * page]) for p in s["prompts"]]
        s["kv"] += sum(s["hits"])
        s["clamp"] = table(s, rng, rng.randint(1, 8))
        yield s


def swa_radix(rng):
    """A window in pages beside a prefix cache."""
    for i in range(80):
        s = base("swa_radix", rng, PAGES[i % 4], hits=None)
        s["swa"] = swa_pool(s, rng)
        yield s


def host(rng):
    """Prefixes that the host holds, in a pool where nothing has to be evicted for them."""
    for i in range(160):
        page = PAGES[i % 4]
        s = base("host", rng, page)
        s["prompts"] = [max(p, rng.choice([1, 2 * page + 1])) for p in s["prompts"]]
        whole = [rng.choice([0, (p - 1) // page * page, p // 2 // page * page]) for p in s["prompts"]]
        s["hits"] = [rng.choice([0, 0, hit // 3 // page * page]) for hit in whole]
        s["host"] = [max(hit - device, 0) for hit, device in zip(whole, s["hits"])]
        s["kv"] = (sum(s["prompts"]) + len(s["prompts"]) * (48 + 3 * page)) // page * page
        kind = i // 4 % 5
        if kind in (1, 2):
            kinds(s, rng, kind)
        elif kind == 3:
            s["align"] = page * rng.choice([1, 2, 3])
        elif kind == 4:
            s.update(pmr=rng.choice([None, 2, 5]), max_running=rng.randint(2, 9))
        if i >= 80:
            s["clamp"] = table(s, rng, rng.randint(1, 8))
        yield s


FILES = {
    "paths": [align, tile, replay, rows, swa, ring, ring_radix],
    "clamped": [clamp, clamp_tail],
    "host": [host],
    "more": [retract, swa_mixed, ring_mixed, clamp_swa, clamp_own, swa_radix],
}
"""Families by the name of the file that holds their recording."""


def scenarios(file, seed, only=None):
    """Scenarios of a file, of the families named in `only` alone where any are."""
    for family in FILES[file]:
        if not only or family.__name__ in only:
            yield from family(random.Random(f"{seed} {family.__name__}"))
