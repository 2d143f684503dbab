#!/bin/sh
# Makes the repository ./repo: a service without configuration.
set -eu
git init -q -b main repo
cd repo
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
printf '# payments\n' > README.md
git add -A
git commit -q -m 'start'
