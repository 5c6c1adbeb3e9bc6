import { open, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** A created, renamed or removed file is on disk after its folder was synced. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Readers see the old text or the new one, never a part of it. */
export async function writeWhole(path: string, text: string, mode = 0o644): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  await writeFile(draft, text, { mode, flush: true });
  await rename(draft, path);
  await syncFolder(dirname(path));
}
