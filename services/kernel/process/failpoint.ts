import { unlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** A point at which a crash leaves work incomplete: one step is recorded or sent, and the next one is not. The detail distinguishes points of one name. */
export type Failpoint = (name: string, detail?: string) => void;

let armed: Failpoint | undefined;

/** Does nothing unless the process is armed. */
export const failpoint: Failpoint = (name, detail) => armed?.(name, detail);

/**
 * For crash tests: the process kills itself at a failpoint when the folder contains a file `name` or `name.detail`. It
 * removes the file first, so that one process crashes, and once.
 */
export function armFailpoints(folder: string): void {
  armed = (name, detail) => {
    const isHit = take(join(folder, name)) || (detail !== undefined && take(join(folder, `${name}.${detail}`)));
    if (isHit) process.kill(process.pid, "SIGKILL");
  };
}

function take(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch {
    // The file does not exist, or another process has removed it.
    return false;
  }
}
