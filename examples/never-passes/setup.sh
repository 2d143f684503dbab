#!/bin/sh
# Makes the repository ./repo: a folder with one file.
set -eu
git init -q -b main repo
cd repo
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
printf 'grey\n' > colour
git add -A
git commit -q -m 'start'
