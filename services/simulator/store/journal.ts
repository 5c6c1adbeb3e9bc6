import { type FileHandle, open } from "node:fs/promises";
import type { Change } from "../domain/change.ts";
import { encodeChange } from "./change-codec.ts";

export type Journal = AsyncDisposable & {
  readonly append: (change: Change) => void;
  /** Resolves when everything appended so far is on disk. Always rejects after a write has failed. */
  readonly settled: () => Promise<void>;
  /** Rejects when a write fails: a server that cannot write must stop. Resolves when the journal is closed. */
  readonly closed: Promise<void>;
};

type Batch = PromiseWithResolvers<void> & { readonly lines: string[] };

/** Continues the file after its last complete line. */
export async function openJournal(path: string, goodBytes: number): Promise<Journal> {
  const file = await open(path, "a", 0o600);
  await file.truncate(goodBytes);
  await file.sync();
  return journalOn(file);
}

/** One flush writes all lines that were queued during the previous flush. */
export function journalOn(file: FileHandle): Journal {
  const closed = quietResolvers();
  let queued: Batch | undefined;
  let latest: Promise<void> = Promise.resolve();
  let isDraining = false;

  const fail = (batch: Batch, error: unknown): void => {
    // Later changes join a batch that has already failed.
    queued ??= batch;
    batch.reject(error);
    queued.reject(error);
    closed.reject(error);
  };
  const drain = async (): Promise<void> => {
    while (queued !== undefined) {
      const batch = queued;
      queued = undefined;
      try {
        await writeLines(file, batch.lines);
      } catch (error) {
        // isDraining stays true: a torn line must stay the last one, so the journal writes no more lines.
        return fail(batch, error);
      }
      batch.resolve();
    }
    isDraining = false;
  };
  return {
    append(change) {
      if (queued === undefined) {
        queued = { lines: [], ...quietResolvers() };
        latest = queued.promise;
      }
      queued.lines.push(encodeChange(change));
      if (isDraining) return;
      isDraining = true;
      // Deferred, so that all changes of one turn of the event loop go into one flush.
      setImmediate(() => void drain());
    },
    settled: () => latest,
    closed: closed.promise,
    async [Symbol.asyncDispose]() {
      await latest.catch(() => undefined);
      await file.close();
      closed.resolve();
    },
  };
}

async function writeLines(file: FileHandle, lines: readonly string[]): Promise<void> {
  await file.appendFile(lines.join(""));
  await file.datasync();
}

/** A caller that awaits the promise sees its failure; a promise without such a caller is not an unhandled rejection. */
function quietResolvers(): PromiseWithResolvers<void> {
  const resolvers = Promise.withResolvers<void>();
  resolvers.promise.catch(() => undefined);
  return resolvers;
}
