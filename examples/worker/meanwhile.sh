#!/bin/sh
# The worker, somewhere else: it asks for one job over HTTP, does it, and ends.
exec python3 "$(dirname "$0")/worker.py" --once
