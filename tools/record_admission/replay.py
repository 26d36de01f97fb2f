"""Replays a recording on the real code: to compare every pass, or to time it."""

import json
import time

import passes
import server


def compare(recording, s):
    """The first difference between scenario `s` and what the real code does now, or None."""
    # Tables and lists of lengths come back from JSON as lists.
    done = json.loads(json.dumps(passes.run(recording, s)))
    for number, (old, new) in enumerate(zip(s["passes"], done["passes"])):
        old, new = ([*row[:5], round(row[5], 12), *row[6:]] for row in (old, new))
        if old != new:
            return f"pass {number}: recorded {old}, now {new}"
    for name, old, new in (
        ("passes", len(s["passes"]), len(done["passes"])), ("steps", s["steps"], done["steps"])
    ):
        if old != new:
            return f"{name}: recorded {old}, now {new}"
    return None


def clock(recording, every):
    """CPU time of the real code over every so many scenarios of a recording."""
    loop = decide = steps = count = 0
    chosen = [s for s in recording["scenarios"] if not s.get("sizer")][::every]
    for s in chosen:
        scheduler, _ = server.build(recording, s)
        start = time.process_time()
        for _ in range(s["steps"]):
            before = time.process_time()
            plan = scheduler.get_next_batch_to_run(
                running_batch=scheduler.running_batch, last_batch=scheduler.last_batch
            )
            decide += time.process_time() - before
            scheduler.running_batch, batch = plan.running_batch, plan.batch_to_run
            passes.finish(scheduler, batch)
            scheduler.last_batch = batch
        loop += time.process_time() - start
        steps += s["steps"]
        count += len(s["passes"])
    print(f"{len(chosen)} scenarios, {count} passes, {steps} steps")
    print(f"CPU: {loop:.2f} s in the loop, of them {decide:.2f} s in get_next_batch_to_run")
