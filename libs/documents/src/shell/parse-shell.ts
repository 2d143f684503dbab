import { forEachChild, type ParsedScript, parse, type SyntaxNode } from 'unbash';

export type ParsedShell =
  | { readonly readable: true; readonly script: ParsedScript }
  /** The parser found a mistake: nothing may be concluded from the tree. */
  | { readonly readable: false; readonly problem: string };

/**
 * Syntax tree of a shell text. Bash syntax, of which `sh` is a part.
 * The parser recovers from mistakes and then guesses; such a text is unreadable here, nested scripts included.
 */
export const parseShell = (text: string): ParsedShell => {
  const script = parse(text);
  const problem = firstProblem(script);
  return problem === null ? { readable: true, script } : { readable: false, problem };
};

const firstProblem = (root: ParsedScript): string | null => {
  for (const node of nodesOf(root)) {
    if (node.type !== 'Script') continue;
    const error = node.errors?.[0];
    if (error !== undefined) return `${error.message} at ${error.pos}`;
  }
  return null;
};

/** All nodes of a tree in source order, the root first. Command substitutions are entered. */
export function* nodesOf(root: SyntaxNode): Generator<SyntaxNode> {
  const waiting: SyntaxNode[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => {
      children.push(child);
    });
    waiting.push(...children.reverse());
  }
}
