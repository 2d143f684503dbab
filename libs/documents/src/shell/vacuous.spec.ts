import { describe, expect, test } from '@jest/globals';
import { isVacuous } from './vacuous.ts';

describe('a check', () => {
  test.each([
    [''],
    ['  # nothing'],
    ['true'],
    [':'],
    ['exit 0'],
    ['/bin/true'],
    ['true && : && exit 0'],
    ['npm test || true'],
    ['npm test; true'],
    ['npm test; exit 0'],
    ['exit 0; npm test'],
    ['npm test || exit 0'],
    ['npm test | true'],
    ['npm test &'],
    ['! false'],
    ['! ! true'],
    ["sh -c 'npm test; true'"],
    ["eval 'true'"],
    ['( exit 0 )'],
    ['{ npm test; :; }'],
    ['timeout 5 true'],
    ['echo ok'],
    ['true > /dev/null 2>&1'],
    ['if npm test; then true; else exit 0; fi'],
    ['if npm test; then true; fi'],
    ['[ 1 ]'],
    ['test x = x'],
    ['[ ! "" ]'],
    ['[ 1 -eq 1 ]'],
    ['(( 1 ))'],
    ['X=1'],
    ['for f in a b; do true; done'],
  ])('that always succeeds is vacuous: %s', (text) => {
    expect(isVacuous(text)).toBe(true);
  });

  test.each([
    ['npm test'],
    ['npm test && true'],
    ['npm test || exit 1; true'],
    ['set -e; npm test; true'],
    ["sh -ec 'npm test; true'"],
    ['false'],
    ['exit 1'],
    ['exit'],
    ['exit $CODE'],
    ['! true'],
    ['true | npm test'],
    ['if npm test; then true; else false; fi'],
    ['[ -f x ]'],
    ['[ "$X" = x ]'],
    ['[ "" ]'],
    ['test a = b'],
    ['(( 0 ))'],
    ['(( x ))'],
    ['true > report'],
    ['X=$(npm test)'],
    ['eval "$CODE"'],
    ['. ./check.sh; true'],
    ['exec npm test; true'],
    ['$TRUE'],
    ['while npm test; do true; done'],
    ['[[ -f x ]]'],
    ['true &&'],
  ])('that can fail is not: %s', (text) => {
    expect(isVacuous(text)).toBe(false);
  });
});
