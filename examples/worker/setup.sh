#!/bin/sh
# Makes the repository ./repo: three notes, and a check of their index.
set -eu
cp -R "$(dirname "$0")/repo" repo
cd repo
git init -q -b main .
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
git add -A
git commit -q -m 'start'
