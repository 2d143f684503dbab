#!/bin/sh
# Makes the repository ./repo: a small JavaScript project that is formatted and linted by Biome.
set -eu
git init -q -b main repo
cd repo
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
mkdir src
cat > biome.json <<'JSON'
{
  "root": true,
  "formatter": { "indentStyle": "space" },
  "javascript": { "formatter": { "quoteStyle": "single" } },
  "linter": { "rules": { "preset": "none", "style": { "useTemplate": "error", "useConst": "error", "useBlockStatements": "error" }, "complexity": { "useArrowFunction": "error" } } }
}
JSON
printf "export const greet = (name) => \`Hello, \${name}\`;\n" > src/greet.js
git add -A
git commit -q -m 'start'
