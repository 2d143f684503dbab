export type DiagnosticSeverity = 'error' | 'warning';

interface CatalogueEntry {
  readonly severity: DiagnosticSeverity;
  /** What the code says about a document, in one sentence. */
  readonly meaning: string;
  /** What to do about it. */
  readonly hint: string;
}

const entry = (severity: DiagnosticSeverity, meaning: string, hint: string): CatalogueEntry => ({
  severity,
  meaning,
  hint,
});

/** Every code that a document can be answered with. Codes are API: they are never reused for something else. */
export const diagnosticCatalogue = {
  FX001: entry('error', 'The text is neither YAML nor JSON.', 'Correct the syntax at the place named.'),
  FX002: entry('error', 'A key stands twice in the same mapping.', 'Keep one of the two.'),
  FX003: entry('error', 'The text is larger than 1 MiB.', 'Move long scripts into files of the workspace.'),
  FX004: entry(
    'error',
    'A number can not be kept exactly: an integer beyond 2^53, an infinity, or not a number.',
    'Write it as text in quotes.',
  ),
  FX005: entry('error', 'The document is nested deeper than 64 levels.', 'Flatten it.'),
  FX006: entry('error', 'Aliases expand to too much, or to themselves.', 'Write the values out.'),
  FX007: entry('error', 'There is no document, or more than one.', 'Submit exactly one document.'),
  FX008: entry(
    'error',
    'A YAML tag or key of a kind that JSON does not have.',
    'Use text, numbers, lists and mappings.',
  ),
  FX010: entry(
    'error',
    'The document does not say what kind it is.',
    'Start it with `kind: task/v1` or `kind: protocol/v1`.',
  ),
  FX011: entry('error', 'Unknown key.', 'Remove it or correct its spelling.'),
  FX012: entry('error', 'A key that is needed is missing.', 'Add it.'),
  FX013: entry('error', 'The value is not what this key takes.', 'See the JSON Schema of the document.'),
  FX014: entry('error', 'Not a duration.', 'Write a whole number above 0 with a unit: 500ms, 30s, 5m, 1h.'),
  FX015: entry('error', 'Not a name.', 'Write it as the message says.'),
  FX103: entry('error', 'The policy is none of the three there are.', 'Use required, recover or best_effort.'),
  FX104: entry(
    'error',
    'Recovery without a postcondition: nothing would tell whether a repair reached the goal.',
    'Add a postcondition, or remove policy recover and the recovery block.',
  ),
  FX105: entry(
    'error',
    'Recovery on a check: repairing a recipe that is its own postcondition means editing the verdict.',
    'Give the node a postcondition of its own, or remove recovery.',
  ),
  FX106: entry(
    'warning',
    'Bounds of recovery that the policy never uses.',
    'Use policy recover, or remove the bounds.',
  ),
  FX107: entry('error', 'Two nodes have the same id.', 'Give each node its own id.'),
  FX108: entry(
    'error',
    'The postcondition holds whatever the recipe does, so it proves nothing.',
    'Check something that the recipe brings about.',
  ),
  FX109: entry('error', 'There is no primitive of this name.', 'Use one of the primitives named in the message.'),
  FX110: entry('error', 'There is no model of this name.', 'Use one of the models named in the message.'),
  FX111: entry(
    'error',
    'The priority is below the viability threshold of -5, so the task would never be dispatched.',
    'Use -5 or more.',
  ),
  FX112: entry('error', 'A compute node without a check of its output.', 'Add a postcondition json_schema or cel.'),
  FX113: entry('error', 'An empty command.', 'Say what is to be run.'),
  FX114: entry(
    'error',
    'A relative URL of a git repository: the server has no folder that it could be relative to.',
    'Use an absolute path or URL; the command line makes paths absolute by itself.',
  ),
  FX115: entry('error', 'The CEL expression can not be understood.', 'Correct it; its variables stand in the message.'),
  FX116: entry('error', 'The JSON Schema can not be used.', 'Correct it against JSON Schema 2020-12.'),
  FX117: entry(
    'error',
    'A gate has a postcondition or outputs: the recipe of a gate is its check.',
    'Remove them, or make the node an action or a compute node.',
  ),
  FX118: entry('error', 'The policy of a gate is always required.', 'Remove the policy and the recovery block.'),
  FX119: entry(
    'warning',
    'The shell will probably not parse this.',
    'Correct its quoting and parentheses; under policy recover a repair may do so.',
  ),
  FX120: entry('error', 'The protocol of the project has no such mode.', 'Use one of the modes named in the message.'),
  FX121: entry(
    'error',
    'A kept path is absolute, leaves the workspace, or is the repository itself.',
    'Name it from the root of the workspace, without `..` and `.git`.',
  ),
  FX122: entry(
    'warning',
    'A kept path looks like a pattern, and keep takes paths as they are.',
    'Name the folder or file itself; ignore this if its name has such characters.',
  ),
  FX123: entry('error', 'Two parts have the same name.', 'Give each part its own name.'),
  FX124: entry('error', 'Parts stand in parts more than five deep, and no unit is split so often.', 'Nest them less.'),
  FX125: entry(
    'error',
    'A result can be delivered only to the repository of the workspace, and the task has none.',
    'Add `workspace.git`, or remove `deliver`: `fixpoint result` writes the workspace out.',
  ),
  FX126: entry(
    'warning',
    'The branch that the task starts from is also where it delivers to: another task that lands first makes it fail.',
    'Name a branch of its own, such as fixpoint/NAME.',
  ),
  FX127: entry(
    'error',
    'A path of a part is absolute or leads out of the workspace, so it is no file that the part could touch.',
    'Name it from the root of the workspace, without `.` and `..`.',
  ),
  FX128: entry(
    'error',
    'Two parts may touch the same file, and no council makes such a split.',
    'Give each part paths of its own, or leave `paths` out where nobody can say.',
  ),
  FX129: entry('error', 'There is no tool of this name for an agent.', 'Use those named in the message.'),
  FX130: entry(
    'error',
    'A reference that can not be read.',
    'Write `inputs.NAME`, `nodes.ID.output.KEY` or `nodes.ID.outcome` between the braces, with `?? "text"` for a default; a second `$` in front keeps the braces as text.',
  ),
  FX131: entry(
    'error',
    'A reference in a text that nothing is filled into.',
    'Give the value a name under `env` and use that variable, in quotes: `"$NAME"`.',
  ),
  FX132: entry('error', 'The task has no such input.', 'Add it to `inputs`, or name one that is there.'),
  FX133: entry('error', 'No node before this one has that id.', 'Refer to a node that stands above this one.'),
  FX134: entry(
    'warning',
    'The value may not be there, and then the task stops and waits for a human.',
    'Give a default, such as `?? "none"`, or a condition that asks for the node first.',
  ),
  FX135: entry(
    'error',
    'The output that is referred to never has such a value.',
    'Compare the reference with the json_schema of that node.',
  ),
  FX136: entry(
    'warning',
    'A list or an object in the middle of a text: it stands there as JSON.',
    'Refer to one of its values, or read the JSON where it is used.',
  ),
  FX137: entry(
    'error',
    'The condition can not be used.',
    'Write CEL that yields a boolean over `inputs.NAME`, `nodes.ID.outcome` and `nodes.ID.output`.',
  ),
  FX138: entry(
    'warning',
    'The condition always says the same, whatever the data.',
    'Remove the condition, or the node.',
  ),
  FX139: entry(
    'error',
    'Every node has a condition, so the task could end as completed with nothing done.',
    'Let one node, such as a gate, run in any case.',
  ),
  FX140: entry(
    'warning',
    'The outputs of the node are declared and never used.',
    'Refer to them in a later node, or remove `outputs`.',
  ),
  FX141: entry('warning', 'The input is never used.', 'Refer to it, or remove it.'),
  FX142: entry(
    'error',
    'A primitive that changes something stands where only a check may.',
    'Use a primitive that only looks.',
  ),
  FX150: entry(
    'error',
    'An agent is to be tried, and it could do nothing.',
    'Allow it tools in `agent_tools` and name a model that can act as an agent; the playbook can not.',
  ),
  FX151: entry(
    'error',
    'A worker would have the word on its own work.',
    'Give the node a postcondition, which is checked here; a gate takes commands, scripts and primitives.',
  ),
  FX190: entry('error', 'Not in this version.', 'Remove it; what this version leaves out is listed in the README.'),
  FX201: entry(
    'error',
    'A mode without pre-validators can not run.',
    'Add at least `{ id: document, check: { document_schema: {} } }` to pre.',
  ),
  FX202: entry('error', 'Two validators or rules of a mode have the same id.', 'Give each its own id.'),
  FX203: entry('error', 'The CEL of a rule can not be understood.', 'Correct it; its variables stand in the message.'),
  FX204: entry('error', 'This check makes no sense in this place.', 'See the message for where it belongs.'),
  FX205: entry(
    'warning',
    'The fix is never used: what this validator finds halts, is not in recover_on, or is outvoted.',
    'See the message for what keeps it from being used.',
  ),
  FX206: entry(
    'warning',
    'Recovery without a fix: what this validator finds is to be recovered from, which ends at once, and a human is asked.',
    'Add a fix, or leave it to humans on purpose.',
  ),
  FX207: entry('error', 'There is no validator of this kind.', 'Use one of the kinds named in the message.'),
  FX208: entry(
    'warning',
    'The validator can never object, so it proves nothing.',
    'Let it look at something that can be wrong, or remove it.',
  ),
  FX209: entry(
    'error',
    'A command rule denies what the fix of a validator runs: its recipe, or the command of the validator, which is its check.',
    'Change the rule or the command, or remove the fix.',
  ),
  FX210: entry(
    'warning',
    'Numbers of a mode that make no sense together.',
    'Change one of them; the message says which and why.',
  ),
  FX211: entry(
    'error',
    'The report of a validator can not be read like this.',
    'Give `level` only to sarif, and write `file` as a path below `$HOME`, where the command leaves it.',
  ),
} as const satisfies Record<string, CatalogueEntry>;

export type DiagnosticCode = keyof typeof diagnosticCatalogue;

/** One thing that is wrong with a document. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: DiagnosticSeverity;
  /** 1-based place of the offending value (of the key, where the key is wrong). */
  readonly line: number;
  /** 1-based, in UTF-16 code units. */
  readonly column: number;
  readonly message: string;
  readonly hint: string;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A diagnostic at a place. The message defaults to the meaning of the code, the hint to the catalogue's. */
export const diagnostic = (
  code: DiagnosticCode,
  position: Position,
  text: { message?: string; hint?: string } = {},
): Diagnostic => {
  const { severity, meaning, hint } = diagnosticCatalogue[code];
  return { code, severity, ...position, message: text.message ?? meaning, hint: text.hint ?? hint };
};

/** Whether anything in the list stops admission. */
export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((found) => found.severity === 'error');
