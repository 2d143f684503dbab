import { DOMParser, type Element, ParseError } from '@xmldom/xmldom';
import { lineOf, type Objection, type ReportReading, testReading, unreadable } from './report-reading.ts';

/**
 * Reads what test runners write as JUnit XML: test cases in suites; `failure` and `error` count, `skipped` does not. A
 * document type is refused, as is whatever is not well-formed; an entity that it would declare is never put in.
 */
export const readJunit = (text: string): ReportReading => {
  const root = rootOf(text);
  if (typeof root === 'string') return unreadable(root);
  if (!['testsuites', 'testsuite'].includes(nameOf(root))) return unreadable(`<${nameOf(root)}> is no JUnit report`);
  const elements = elementsIn(root);
  const cases = elements.filter((element) => nameOf(element) === 'testcase');
  const failed = elements.filter(isFailure).map(objectionOf);
  const skipped = cases.filter((test) => childrenOf(test).some((child) => nameOf(child) === 'skipped')).length;
  const told = failed.length === 0 ? toldFailures(elements) : [];
  return testReading({
    failed: [...failed, ...told],
    ...{ todo: 0, skipped, ran: cases.length - skipped, gap: null },
  });
};

/** The root, or why there is none. */
const rootOf = (text: string): Element | string => {
  // A stop at the first complaint: half a report is none.
  const onError = (_level: string, message: string): never => {
    throw new ParseError(message);
  };
  try {
    const { doctype, documentElement } = new DOMParser({ onError }).parseFromString(text, 'text/xml');
    return doctype === null ? (documentElement ?? 'no XML') : 'a document type is not read';
  } catch (error) {
    if (error instanceof ParseError) return `not XML: ${error.message}`;
    throw error;
  }
};

const nameOf = (element: Element): string => element.localName ?? element.nodeName;

const childrenOf = (element: Element): Element[] => {
  const children: Element[] = [];
  for (let node = element.firstChild; node !== null; node = node.nextSibling)
    if (node.nodeType === node.ELEMENT_NODE) children.push(node as Element);
  return children;
};

/** The element and all below it, in the order of the document; a list, as a report may be nested deeper than a stack. */
const elementsIn = (root: Element): Element[] => {
  const found: Element[] = [];
  const waiting = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    found.push(next);
    waiting.push(...childrenOf(next).reverse());
  }
  return found;
};

/** Of a test case, or of a suite that could not be set up. Words in a test's own output are no failure. */
const isFailure = (element: Element): boolean =>
  ['failure', 'error'].includes(nameOf(element)) &&
  ['testcase', 'testsuite', 'testsuites'].includes(element.parentNode?.localName ?? '');

const objectionOf = (element: Element): Objection => {
  const at = element.parentNode as Element;
  const name = [attribute(at, 'classname'), attribute(at, 'name')].filter((part) => part !== null).join(' ');
  return {
    rule: nameOf(element),
    path: attribute(at, 'file') ?? (at.parentNode === null ? null : attribute(at.parentNode as Element, 'file')),
    line: lineOf(attribute(at, 'line')),
    criterion: name === '' ? null : name,
    message: [attribute(element, 'message'), element.textContent?.trim()].filter(Boolean).join('\n'),
  };
};

const attribute = (element: Element, name: string): string | null =>
  element.nodeType === element.ELEMENT_NODE ? element.getAttribute(name) || null : null;

/** A suite that counts failures and shows none of them. */
const toldFailures = (elements: readonly Element[]): Objection[] => {
  const suites = elements.filter((element) => ['testsuite', 'testsuites'].includes(nameOf(element)));
  const told = suites.find((suite) => ['failures', 'errors'].some((key) => Number(attribute(suite, key) ?? 0) > 0));
  if (told === undefined) return [];
  const criterion = attribute(told, 'name');
  return [{ rule: 'failure', path: null, line: null, criterion, message: 'the suite counts failures' }];
};
