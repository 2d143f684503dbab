#!/bin/sh
# INDEX.md names every note by the title that the note has.
set -eu
for note in notes/*.md; do
  title=$(sed -n 's/^# //p;T;q' "$note")
  grep -qxF -- "- [$title]($note)" INDEX.md || { echo "$note is not listed as '$title'"; exit 1; }
done
