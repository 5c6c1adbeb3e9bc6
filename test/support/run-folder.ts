import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { isRunning, startOf } from "#kernel/process/process-start.ts";

export type RunFolder = Disposable & { readonly path: string };

const MEMORY = "/dev/shm";
/** A run that fills the memory fails, so with less free space it uses the disk. */
const ENOUGH_MEMORY_BYTES = 1024 ** 3;
const PREFIX = "pamm-test-";

/** In /dev/shm when it has enough space: databases are created and dropped ten times faster there. */
export function makeRunFolder(): RunFolder {
  const parent = hasFreeMemory() ? MEMORY : tmpdir();
  removeLeftovers(parent);
  const path = mkdtempSync(join(parent, `${PREFIX}${process.pid}-${startOf(process.pid)}-`));
  // Postgres may have to run as another user.
  chmodSync(path, 0o711);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

function hasFreeMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ENOUGH_MEMORY_BYTES;
}

/** Removes folders of runs that were killed. Their servers have ended too. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const [pid, start = ""] = name.slice(PREFIX.length).split("-");
    if (!isRunning(Number(pid), start)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}
