import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Artifacts, ArtifactTooLarge } from '@fixpoint/event-store/artifacts';
import { linkIn } from '@fixpoint/execution/primitives/inside';
import { systemErrorOf } from '@fixpoint/execution/system-error';
import { fittingOutput, INLINE_BYTES, NO_OUTPUT, type NodeOutput } from './node-output.ts';

/** A named pipe in place of the file must not be waited for. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * A file of the workspace as the output of its node, as it is now. No file, something that is none, or one behind a link,
 * is no output; nor is one that no artifact holds.
 * @param path below `folder`, as the document's schema lets it be.
 * @throws when the disk or the artifact store fails.
 */
export const outputOfFile = async (
  folder: string,
  path: string,
  artifacts: Pick<Artifacts, 'put'>,
): Promise<NodeOutput> => {
  if ((await linkIn(folder, path)) !== null) return NO_OUTPUT;
  const file = await open(join(folder, path), FLAGS).catch(noFile);
  if (file === null) return NO_OUTPUT;
  try {
    return await outputOf(file, artifacts);
  } catch (error) {
    if (error instanceof ArtifactTooLarge) return NO_OUTPUT;
    throw error;
  } finally {
    await file.close();
  }
};

const ABSENT = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENXIO', 'EACCES'];

const noFile = (error: unknown): null => {
  if (ABSENT.includes(systemErrorOf(error)?.code ?? '')) return null;
  throw error;
};

const outputOf = async (file: FileHandle, artifacts: Pick<Artifacts, 'put'>): Promise<NodeOutput> => {
  const about = await file.stat();
  if (!about.isFile()) return NO_OUTPUT;
  if (about.size <= INLINE_BYTES) {
    const bytes = await file.readFile();
    const inline = fittingOutput(bytes.toString('utf8'));
    return inline ?? { output: null, artifact: (await artifacts.put(bytes)).hash };
  }
  const { hash } = await artifacts.put(file.createReadStream({ start: 0, autoClose: false }));
  return { output: null, artifact: hash };
};
