import { diagnosticCatalogue } from './diagnostics.ts';

/** The catalogue of diagnostics as a page for people, in Markdown. Checked in as `docs/diagnostics.md`. */
export const diagnosticsPage = (): string => {
  const rows = Object.entries(diagnosticCatalogue).map(
    ([code, { severity, meaning, hint }]) => `| ${code} | ${severity} | ${cell(meaning)} | ${cell(hint)} |`,
  );
  return `${[
    '# Diagnostics',
    '',
    'What parsing and linting of documents can say. Errors stop admission, warnings do not. `npm run generate` writes this page.',
    '',
    '| code | severity | meaning | what to do |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n')}\n`;
};

const cell = (text: string): string => text.replaceAll('|', '\\|');
