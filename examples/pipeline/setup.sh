#!/bin/sh
# Makes the repository ./repo: a library with a change log, and commits that are in no release yet. One of them has a
# subject that a shell would run if it ever became part of a command.
set -eu
git init -q -b main repo
cd repo
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
printf '{ "name": "greetings", "version": "1.4.0" }\n' > package.json
printf '# Changes\n\n## 1.4.0\n\n- feat: greet by name\n' > CHANGELOG.md
git add -A
git commit -q -m 'release 1.4.0'
change() {
  printf '%s\n' "$1" >> greetings.js
  git add -A
  git commit -q -m "$1"
}
change 'fix: greet people without a name'
change 'feat: print $(touch pwned) and `touch pwned` as they are; "quotes", too'
