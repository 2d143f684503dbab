#!/bin/sh
# Makes the repository ./repo: a small TypeScript project whose tests ask for a change that its code has not seen yet.
set -eu
cp -R "$(dirname "$0")/repo" repo
cd repo
git init -q -b main .
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
git add -A
git commit -q -m 'start'
