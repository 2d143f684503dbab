#!/bin/sh
# Makes the repository ./repo: a library, and a tool that asks a directory for the names of its authors.
set -eu
git init -q -b main repo
cd repo
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
mkdir tools
cat > tools/authors.mjs <<'CODE'
// Prints { "names": [...] } as the directory knows them.
const answer = await fetch(`${process.env.DIRECTORY}/authors`);
if (!answer.ok) throw new Error(`the directory answers ${answer.status}`);
console.log(JSON.stringify(await answer.json()));
CODE
printf '# Greetings\n' > README.md
git add -A
git commit -q -m start
