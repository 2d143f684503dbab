#!/bin/sh
# Makes the repository ./repo, in which a choice is missing that no tool can make.
set -eu
cp -R "$(dirname "$0")/repo" repo
cd repo
git init -q -b main .
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
git add -A
git commit -q -m 'start'
