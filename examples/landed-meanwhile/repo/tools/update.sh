#!/bin/sh
# Asks the owner of the footer, who has a look at the second question and says nothing.
place=PLACE
if [ -e "$place/asked" ]; then
  touch "$place/asked-again"
  for _ in $(seq 60); do
    test -e "$place/landed" && break
    sleep 0.5
  done
fi
touch "$place/asked"
echo 'the owner of the footer does not answer' >&2
exit 1
