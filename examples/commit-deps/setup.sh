#!/bin/sh
# Makes the repository ./repo: a shop with one dependency and an updater that leaves caches behind.
set -eu
git init -q -b main repo
cd repo
git config user.name 'Example'
git config user.email 'example@fixpoint.invalid'
mkdir tools
printf '{ "name": "web-shop", "dependencies": { "left-pad": "1.2.0" } }\n' > package.json
cat > tools/update.sh <<'SCRIPT'
#!/bin/sh
# Stands for an update bot: raises the version, writes a lock file of about 1.5 MB, leaves the caches of its helpers.
set -eu
sed -i 's/1\.2\.0/1.3.0/' package.json
awk 'BEGIN { for (i = 0; i < 12000; i++) printf "left-pad@1.3.0#%05d sha512-%0100d\n", i, i }' > deps.lock
mkdir -p __pycache__ go/pkg
printf 'bytecode\n' > __pycache__/bot.pyc
printf 'cache\n' > go/pkg/mod.cache
SCRIPT
git add -A
git commit -q -m 'web shop'
