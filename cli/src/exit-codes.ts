/** What a command's exit code says; part of the interface of the command line. */
export const EXIT = {
  /** Done; a lineage ended completed or degraded. */
  ok: 0,
  /** Something failed that should not have. */
  failed: 1,
  /** The arguments or the document are wrong; nothing was changed. */
  badInput: 2,
  /** The lineage was blocked, cancelled or abandoned. */
  blocked: 3,
  /** The lineage waits for a human. */
  human: 4,
  /** The installation said no: conflict, missing right, unknown lineage. */
  refused: 5,
  /** The installation can not be reached. */
  unreachable: 6,
  /** Not over in the time given. */
  timedOut: 7,
  /** Stopped by Ctrl-C before it was done. */
  interrupted: 130,
} as const;

export const EXIT_CODES_HELP = `
Exit codes:
  0    done; a lineage ended completed or degraded
  1    something failed that should not have
  2    the arguments or a document are wrong; nothing was changed
  3    the lineage was blocked, cancelled or abandoned
  4    the lineage waits for a human
  5    the installation said no: conflict, missing right, unknown lineage
  6    the installation can not be reached
  7    not over (in the time given)
  130  stopped by Ctrl-C before it was done
Of several lineages or documents, the code of the first that is not 0.

Environment:
  FIXPOINT_URL, FIXPOINT_AUDIT_URL, FIXPOINT_API_KEY   the installation, as --url, --audit-url, --api-key
  FIXPOINT_HOME     data folder of a local installation (default: .fixpoint here or in a folder above)
  FIXPOINT_DEBUG=1  show where an error came from
`;

/** A command ends with a code of its own and one sentence for people. */
export class Exit extends Error {
  override readonly name = 'Exit';
  readonly code: number;
  /** What to do about it; empty when there is nothing to say. */
  readonly hint: string;

  constructor(code: number, message: string, hint = '') {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
