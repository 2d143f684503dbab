import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { type DiagnosticCode, diagnosticCatalogue } from './diagnostics.ts';
import { diagnosticsPage } from './diagnostics-page.ts';

describe('the catalogue of diagnostics', () => {
  test('every code says what it means and what to do', () => {
    for (const [code, { meaning, hint }] of Object.entries(diagnosticCatalogue)) {
      expect(code).toMatch(/^FX\d{3}$/);
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      expect(hint).toMatch(/^[A-Z].*\.$/);
    }
  });

  test('no code is used twice, in whatever case a compiler would let pass', () => {
    const text = readFileSync(new URL('diagnostics.ts', import.meta.url), 'utf8');
    const codes = [...text.matchAll(/^ {2}(FX\d+):/gm)].map(([, code]) => code);
    expect(codes).toHaveLength(Object.keys(diagnosticCatalogue).length);
    expect(new Set(codes).size).toBe(codes.length);
  });

  test('the page about them is current; `npm run generate` writes it', () => {
    expect(readFileSync(new URL('../../../docs/diagnostics.md', import.meta.url), 'utf8')).toBe(diagnosticsPage());
  });

  test('the codes that other systems know keep their numbers', () => {
    const severities: Partial<Record<DiagnosticCode, string>> = {
      FX103: 'error',
      FX104: 'error',
      FX105: 'error',
      FX106: 'warning',
    };
    for (const [code, severity] of Object.entries(severities)) {
      expect(diagnosticCatalogue).toHaveProperty([code, 'severity'], severity);
    }
  });
});
