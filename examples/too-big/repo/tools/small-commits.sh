#!/bin/sh
# Fails when a commit since the start changes more than one file of the layers.
set -eu
start=$(git rev-list --max-parents=0 HEAD)
for commit in $(git rev-list --no-merges "$start..HEAD"); do
  files=$(git diff-tree --no-commit-id --name-only -r "$commit" -- src | wc -l)
  if [ "$files" -gt 1 ]; then
    echo "commit $(git log -1 --format='%h %s' "$commit") changes $files files" >&2
    exit 1
  fi
done
