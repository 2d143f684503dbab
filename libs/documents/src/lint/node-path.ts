import type { TaskDocument } from '../task-document.ts';
import type { ValuePath } from '../text/source-text.ts';

/** Where a node stands; the only node of a task may be the task itself. */
export const pathOfNode = (document: TaskDocument, index: number): ValuePath =>
  'nodes' in document ? ['nodes', index] : [];
