import { randomUUID } from "node:crypto";
import { link, readFile, unlink, writeFile } from "node:fs/promises";
import { isRunning, startOf } from "#kernel/process/process-start.ts";
import { StartupError } from "#kernel/process/startup-error.ts";

/** Process ids are reused, in a container always the same one. */
type Holder = { readonly pid: number; readonly startedAt: string };

/** A holder that crashes leaves its file; each try removes at most one such file. */
const MAX_TRIES = 5;

/** One process at a time may use a folder. Released by dispose, or when the holder ends for any reason. */
export async function lockFolder(path: string, startedAt = startOf(process.pid)): Promise<AsyncDisposable> {
  const own: Holder = { pid: process.pid, startedAt };
  if (own.startedAt === "") throw new StartupError(`the lock ${path} cannot be taken: /proc cannot be read`);
  const text = JSON.stringify(own);
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (await tookPlace(draft, path)) return { [Symbol.asyncDispose]: () => unlink(path) };
      const found = await readFile(path, "utf8").catch(() => undefined);
      if (found === undefined) continue;
      const holder = parseHolder(found);
      if (holder !== undefined && isRunning(holder.pid, holder.startedAt)) throw isTaken(path, holder);
      await removeStale(path, found);
    }
  } finally {
    await unlink(draft);
  }
  throw new StartupError(`the lock ${path} could not be taken: remove it when no simulator runs on this folder`);
}

/** A link is created atomically, and only where no file exists. */
async function tookPlace(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** One process at a time removes a stale lock, after a second look: another process may have taken the lock meanwhile. */
async function removeStale(path: string, stale: string): Promise<void> {
  await using removing = await lockFolder(`${path}.stale`).catch(unlessTaken);
  if (removing === undefined) return;
  const found = await readFile(path, "utf8").catch(() => undefined);
  if (found === stale) await unlink(path);
}

function unlessTaken(error: unknown): undefined {
  if (!(error instanceof StartupError)) throw error;
}

function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, startedAt } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === "number" && typeof startedAt === "string" ? { pid, startedAt } : undefined;
  } catch {
    return undefined;
  }
}

function isTaken(path: string, { pid }: Holder): StartupError {
  return new StartupError(
    `another simulator (process ${pid}) uses this folder: stop it first, or choose another folder (${path})`,
  );
}
