#!/bin/sh
# What a colleague does at the second question: the fix lands on main of ./repo.
set -eu
for _ in $(seq 240); do
  test -e asked-again && break
  sleep 0.5
done
cd repo
echo '(c) 2026' > footer.txt
git commit -q -a -m 'Bring the footer up to date'
touch ../landed
