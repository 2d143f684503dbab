#!/bin/sh
# Makes the repository ./repo, whose test a bot can not make pass.
set -eu
cp -R "$(dirname "$0")/repo" repo
cd repo
sed -i "s#PLACE#$(dirname "$PWD")#" tools/update.sh
git init -q -b main .
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
git add -A
git commit -q -m 'start'
