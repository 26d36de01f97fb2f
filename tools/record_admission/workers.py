"""Runs a function over many scenarios, each in a fork of this process with a limit of time.

A scenario in which the real code spins or crashes costs its own process and nothing else. In go a
function and its arguments; out come, in their order, results or the reason why there is none.
"""

import json
import os
import selectors
import signal
import time


class Job:
    """One call in a fork."""

    def __init__(self, function, argument):
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            os._exit(_answer(function, argument, write))
        os.close(write)
        self.read, self.text, self.started = read, b"", time.monotonic()

    def end(self, kill=False):
        """Result, or None and why."""
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.read)
        if kill:
            return None, "no end within the limit of time"
        if not self.text:
            return None, "the process ended without an answer"
        return json.loads(self.text)


def _answer(function, argument, write):
    try:
        answer = (function(argument), None)
    # Whatever the real code gives up with is counted, by its first line.
    except Exception as error:  # noqa: BLE001
        lines = str(error).strip().splitlines()
        answer = (None, lines[0] if lines else type(error).__name__)
    with os.fdopen(write, "w") as out:
        json.dump(answer, out, separators=(",", ":"))
    return 0


def run(function, arguments, at_once, seconds):
    """Yields `(result, why)` for each argument, in order; `why` says why there is no result."""
    arguments, done, shown = list(arguments), {}, 0
    waiting, jobs = list(enumerate(arguments)), {}
    with selectors.DefaultSelector() as selector:
        while waiting or jobs:
            while waiting and len(jobs) < at_once:
                number, argument = waiting.pop(0)
                job = Job(function, argument)
                jobs[job.read] = (number, job)
                selector.register(job.read, selectors.EVENT_READ)
            for key, _ in selector.select(timeout=1):
                number, job = jobs[key.fd]
                if part := os.read(key.fd, 1 << 20):
                    job.text += part
                    continue
                selector.unregister(key.fd)
                del jobs[key.fd]
                done[number] = job.end()
            now = time.monotonic()
            for fd, (number, job) in list(jobs.items()):
                if now - job.started > seconds:
                    selector.unregister(fd)
                    del jobs[fd]
                    done[number] = job.end(kill=True)
            while shown in done:
                yield done.pop(shown)
                shown += 1
