/**
 * A rule said no. Not a fault: never retried; HTTP answers 409 with the code.
 * @param code snake_case, state then reason; part of the API.
 * @param detail what mattered (ids, limits), never a payload.
 */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly code: string;
  readonly detail: string;

  constructor(code: string, detail = '') {
    super(detail === '' ? code : `${code}: ${detail}`);
    this.code = code;
    this.detail = detail;
  }
}
