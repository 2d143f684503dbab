import type { ValidatorSpec } from '@fixpoint/contracts/documents/protocol';
import type { Json } from '@fixpoint/contracts/json';
import { askCelOnce } from './cel.ts';
import { celEvidence, type RunEvidence } from './checks.ts';
import { askJsonSchema } from './json-schema-check.ts';
import type { ValidatorAnswer } from './verdict.ts';

type SchemaValidator = Pick<ValidatorSpec, 'timeout_ms'> & {
  readonly check: { readonly json_schema: Record<string, Json> };
};
type CelValidator = Pick<ValidatorSpec, 'timeout_ms'> & { readonly check: { readonly cel: string } };

/** Asks a validator that is a JSON Schema about the node's output. */
export const judgeBySchema = ({ check, timeout_ms }: SchemaValidator, output: Json): ValidatorAnswer => {
  const answer = askJsonSchema(check.json_schema, output, timeout_ms);
  switch (answer.outcome) {
    case 'valid':
      return { answer: 'pass', justification: 'the output fits the schema' };
    case 'invalid': {
      const message = `output${answer.place} ${answer.detail}`;
      const finding = { rule: 'json_schema', path: null, line: null, criterion: answer.place, message };
      return {
        answer: 'fail',
        justification: message,
        findings: [finding],
        criteria: [`${answer.place} ${answer.detail}`],
      };
    }
    case 'wrong_schema':
      return { answer: 'error', justification: `the schema cannot be used: ${answer.detail}` };
    case 'timed_out':
      return { answer: 'error', justification: `the schema gave no answer: ${answer.detail}` };
    default:
      return answer satisfies never;
  }
};

/** Asks a validator that is an expression; one that gives no boolean answer of this run is unusable, not an objection. */
export const judgeByCel = ({ check, timeout_ms }: CelValidator, evidence: RunEvidence): ValidatorAnswer => {
  const answer = askCelOnce('validator', check.cel, { values: celEvidence(evidence), limitMs: timeout_ms });
  if (answer.outcome !== 'answered')
    return { answer: 'error', justification: `the expression gave no answer: ${answer.detail}` };
  if (answer.holds) return { answer: 'pass', justification: 'the expression holds' };
  return { answer: 'fail', justification: 'the expression does not hold', criteria: [check.cel] };
};
