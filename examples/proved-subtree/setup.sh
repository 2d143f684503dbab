#!/bin/sh
# Makes the repository ./repo: statements, a prover that looks a little deeper with every attempt, and a checker.
set -eu
cp -R "$(dirname "$0")/repo" repo
cd repo
printf 'PROVER_CACHE=%s/prover-cache node tools/prove.ts "$1"\n' "$(dirname "$PWD")" > tools/prove.sh
git init -q -b main .
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
git add -A
git commit -q -m 'start'
