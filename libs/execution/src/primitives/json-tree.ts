/** A JSON value where it stands in its text. Offsets are UTF-16 code units; `end` is exclusive. */
export type JsonNode = JsonScalar | JsonArray | JsonObject;

interface Placed {
  readonly start: number;
  readonly end: number;
}
export interface JsonScalar extends Placed {
  readonly kind: 'string' | 'number' | 'literal';
  /** As written: numbers of any size and precision stay what they are. */
  readonly source: string;
}
export interface JsonArray extends Placed {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}
export interface JsonObject extends Placed {
  readonly kind: 'object';
  readonly members: readonly JsonMember[];
}
export interface JsonMember {
  readonly key: string;
  readonly keyStart: number;
  readonly value: JsonNode;
}

/** The text is no JSON, or says two things at once. The message has line and column. */
export class JsonTextProblem extends Error {
  override readonly name = 'JsonTextProblem';
}

const deepest = 512;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const SPACE = /[ \t\n\r]*/y;

/**
 * Reads a JSON text with the place of every value. Stricter than `JSON.parse` in one thing: a key that comes twice is no
 * JSON here, because readers differ in which one they take.
 * @throws {JsonTextProblem}
 */
export const readJson = (text: string): JsonNode => {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.space();
  if (reader.at < text.length) throw reader.problem('more than one value');
  return node;
};

class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonNode {
    if (depth > deepest) throw this.problem(`nested deeper than ${deepest}`);
    this.space();
    const start = this.at;
    const first = this.#text[start];
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    if (first === '"') {
      this.#string();
      return this.#scalar('string', start);
    }
    const isNumber = this.#skip(NUMBER);
    if (!isNumber && !this.#skip(LITERAL)) throw this.problem('a value is missing');
    return this.#scalar(isNumber ? 'number' : 'literal', start);
  }

  space(): void {
    this.#skip(SPACE);
  }

  problem(what: string): JsonTextProblem {
    const before = this.#text.slice(0, this.at);
    const line = before.split('\n').length;
    return new JsonTextProblem(`line ${line}, column ${this.at - before.lastIndexOf('\n')}: ${what}`);
  }

  #scalar(kind: JsonScalar['kind'], start: number): JsonScalar {
    return { kind, start, end: this.at, source: this.#text.slice(start, this.at) };
  }

  #array(depth: number): JsonArray {
    const start = this.at;
    const items: JsonNode[] = [];
    this.#list(']', () => items.push(this.value(depth + 1)));
    return { kind: 'array', start, end: this.at, items };
  }

  #object(depth: number): JsonObject {
    const start = this.at;
    const members = new Map<string, JsonMember>();
    this.#list('}', () => {
      const member = this.#member(depth);
      if (members.has(member.key)) {
        this.at = member.keyStart;
        throw this.problem(`the key ${JSON.stringify(member.key)} comes twice`);
      }
      members.set(member.key, member);
    });
    return { kind: 'object', start, end: this.at, members: [...members.values()] };
  }

  #member(depth: number): JsonMember {
    this.space();
    const keyStart = this.at;
    this.#string();
    const key: string = JSON.parse(this.#text.slice(keyStart, this.at));
    this.space();
    this.#expect(':');
    return { key, keyStart, value: this.value(depth + 1) };
  }

  /** From the opening bracket to behind the closing one. */
  #list(close: string, item: () => void): void {
    this.at += 1;
    this.space();
    if (this.#text[this.at] !== close) {
      item();
      for (this.space(); this.#text[this.at] === ','; this.space()) {
        this.at += 1;
        item();
      }
    }
    this.#expect(close);
  }

  #string(): void {
    const start = this.at;
    this.#expect('"');
    // One code unit at a time: a regular expression runs out of stack on a text of megabytes.
    for (let unit = this.#text[this.at]; unit !== '"'; unit = this.#text[this.at]) {
      if (unit === undefined || unit < ' ') throw this.problem('a string does not end');
      this.at += unit === '\\' ? 2 : 1;
    }
    this.at += 1;
    if (!isJson(this.#text.slice(start, this.at))) {
      this.at = start;
      throw this.problem('a string has a wrong escape');
    }
  }

  #expect(unit: string): void {
    if (this.#text[this.at] !== unit) throw this.problem(`expected ${unit}`);
    this.at += 1;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.#text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
