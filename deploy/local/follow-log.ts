import { closeSync, copyFileSync, existsSync, fstatSync, openSync, readSync, statSync, truncateSync } from "node:fs";

export type FollowedLog = Disposable & {
  /** Shows what was written since. */
  readonly look: () => void;
};

/** Kept twice: the current file and the one before. */
const MAX_BYTES = 32 * 1024 ** 2;
const LOOK_EVERY_MS = 200;
const CHUNK_BYTES = 64 * 1024;

/**
 * Hands on every line that is written to the file from now on, and keeps the file from growing without end. Its writer
 * appends, so it may be cut under its hands; what it writes in that very moment is lost.
 */
export function followLog(file: string, onLine: (line: string) => void): FollowedLog {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let position = existsSync(file) ? statSync(file).size : 0;
  let rest = "";

  function look(): void {
    if (!existsSync(file)) return;
    const descriptor = openSync(file, "r");
    try {
      if (fstatSync(descriptor).size < position) position = 0;
      for (let read = -1; read !== 0;) {
        read = readSync(descriptor, chunk, 0, CHUNK_BYTES, position);
        position += read;
        const lines = (rest + chunk.toString("latin1", 0, read)).split("\n");
        rest = lines.pop() ?? "";
        // Cut at bytes, so decoded only when whole.
        for (const line of lines) onLine(Buffer.from(line, "latin1").toString("utf8"));
      }
    } finally {
      closeSync(descriptor);
    }
    if (position > MAX_BYTES) cut();
  }

  function cut(): void {
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
    position = 0;
  }

  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    look,
    [Symbol.dispose]() {
      clearInterval(timer);
      look();
    },
  };
}
