/** What Node's own errors carry. Told by shape: an error of another realm (a test's, a worker's) is no `instanceof Error`. */
export interface SystemError {
  /** `ENOENT`, `ERR_STREAM_PREMATURE_CLOSE`, … */
  readonly code: string;
  readonly message: string;
}

/** @returns null for what is no error of Node or of the operating system. */
export const systemErrorOf = (error: unknown): SystemError | null => {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error)) return null;
  return typeof error.code === 'string' ? { code: error.code, message: String(error.message) } : null;
};
