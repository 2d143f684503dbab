#!/bin/sh
# What the owner does: chooses, on a branch of the repository ./repo.
set -eu
cd repo
git switch -q -c owners-choice
echo 'Apache-2.0' > LICENSE-CHOICE
node tools/license.ts
git add -A
git commit -q -m 'Choose the licence'
git switch -q main
