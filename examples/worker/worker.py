#!/usr/bin/env python3
"""A worker of Fixpoint with nothing but Python's standard library: lists the notes of a workspace in INDEX.md.

Usage: worker.py [--once]    FIXPOINT_WORKER_URL names the executors, FIXPOINT_API_KEY the key (role `worker`).

The protocol is plain HTTP and JSON (docs/workers.md): lease a job, say that you are alive, send what you did. Whether it
was done well is checked where the job came from.
"""

import io
import json
import os
import socket
import sys
import tarfile
import threading
import time
import urllib.error
import urllib.request

BASE = os.environ.get("FIXPOINT_WORKER_URL", "http://127.0.0.1:4100").rstrip("/")
KEY = os.environ.get("FIXPOINT_API_KEY")
QUEUE = os.environ.get("FIXPOINT_QUEUE", "notes.index")
LEASE_MS = int(os.environ.get("FIXPOINT_LEASE_MS", "15000"))
WAIT_MS = 30_000


def ask(method, path, body=None):
    """Returns (status, bytes). Raises urllib.error.HTTPError for 400 and more."""
    headers = {"content-type": "application/json"}
    if KEY:
        headers["authorization"] = "Bearer " + KEY
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.status, answer.read()


class Job:
    """One job under its lease. Every word about it says its epoch."""

    def __init__(self, leased):
        self.leased = leased
        self.request = leased["request"]
        self.progress = None
        self.lost = threading.Event()
        self.ended = threading.Event()

    def say(self, what, **body):
        return ask("POST", f"/v1/worker/jobs/{self.leased['job']}/{what}", {"epoch": self.leased["epoch"], **body})

    def beat(self):
        while not self.ended.wait(self.leased["lease_ms"] / 3000):
            try:
                self.say("heartbeat", **({"progress": self.progress} if self.progress else {}))
            except urllib.error.HTTPError as refused:
                print(f"the job was taken away: {refused.read().decode()}", file=sys.stderr)
                self.lost.set()
                return
            except OSError as trouble:
                print(f"a heartbeat was not heard: {trouble}", file=sys.stderr)

    def files(self):
        """The texts of the workspace by path."""
        if not self.leased["has_workspace"]:
            return {}
        _, tar = ask("GET", f"/v1/worker/jobs/{self.leased['job']}/workspace?epoch={self.leased['epoch']}")
        with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
            members = [member for member in archive if member.isfile()]
            return {member.name: archive.extractfile(member).read().decode("utf-8", "replace") for member in members}


def index(job):
    """What this worker is for: the titles of all notes, in the order of their paths."""
    folder = job.request["with"].get("folder", "notes")
    title = job.request["with"].get("title", "Notes")
    lines = [f"# {title}", ""]
    count = 0
    for path, text in sorted(job.files().items()):
        if not path.startswith(folder + "/") or not path.endswith(".md"):
            continue
        if job.lost.is_set():
            raise RuntimeError("the job was taken away")
        count += 1
        job.progress = f"{count} notes"
        heading = next((line[2:] for line in text.splitlines() if line.startswith("# ")), path)
        lines.append(f"- [{heading.strip()}]({path})")
    return {
        "output": {"notes": count},
        "files": [{"path": "INDEX.md", "text": "\n".join(lines) + "\n"}],
        "stdout": f"listed {count} notes\n",
    }


def insist(say, seconds=60):
    """What an executor that is being started again does not hear is said again; what it refuses is not."""
    until = time.monotonic() + seconds
    while True:
        try:
            return say()
        except urllib.error.HTTPError as refused:
            if refused.code < 500 or time.monotonic() > until:
                raise
        except OSError:
            if time.monotonic() > until:
                raise
        time.sleep(0.5)


def work_once():
    """One job, if there is one in half a minute. Returns whether there was."""
    asked = {"queue": QUEUE, "worker": socket.gethostname()[:40] or "python", "wait_ms": WAIT_MS, "lease_ms": LEASE_MS}
    status, body = insist(lambda: ask("POST", "/v1/worker/leases", asked))
    if status == 204:
        return False
    job = Job(json.loads(body))
    beating = threading.Thread(target=job.beat, daemon=True)
    beating.start()
    try:
        done = index(job)
        if not job.lost.is_set():
            insist(lambda: job.say("result", **done))
    except urllib.error.HTTPError as refused:
        print(f"the result was refused: {refused.read().decode()}", file=sys.stderr)
    except Exception as problem:
        reason = str(problem) or type(problem).__name__
        insist(lambda: job.say("fail", reason=reason))
    finally:
        job.ended.set()
        beating.join()
    return True


if __name__ == "__main__":
    if "--once" in sys.argv[1:]:
        sys.exit(0 if work_once() else 3)
    while True:
        work_once()
