import { closeSync, copyFileSync, existsSync, fstatSync, openSync, readSync, statSync, truncateSync } from "node:fs";

export type FollowedLog = Disposable & {
  /** Passes on the lines that were written since the last read. */
  readonly readNew: () => void;
};

/** Two files are kept: the current one and the one before. A system that runs for weeks must not fill the disk. */
const MAX_BYTES = 32 * 1024 ** 2;
/** A line is shown this much later at most. */
const READ_EVERY_MS = 200;
/** Of one read; the next one follows until the end of the file. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Passes on every line that is written to the file from now on, and limits the size of the file. The writer appends, so
 * the file can be truncated while it writes; a line written at that moment is lost.
 */
export function followLog(file: string, onLine: (line: string) => void): FollowedLog {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let position = existsSync(file) ? statSync(file).size : 0;
  let rest = "";

  function readNew(): void {
    if (!existsSync(file)) return;
    const descriptor = openSync(file, "r");
    try {
      if (fstatSync(descriptor).size < position) position = 0;
      for (let read = -1; read !== 0;) {
        read = readSync(descriptor, chunk, 0, CHUNK_BYTES, position);
        position += read;
        const lines = (rest + chunk.toString("latin1", 0, read)).split("\n");
        rest = lines.pop() ?? "";
        // A chunk may end inside a character, so only whole lines are decoded.
        for (const line of lines) onLine(Buffer.from(line, "latin1").toString("utf8"));
      }
    } finally {
      closeSync(descriptor);
    }
    if (position > MAX_BYTES) rotate();
  }

  function rotate(): void {
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
    position = 0;
  }

  const timer = setInterval(readNew, READ_EVERY_MS);
  return {
    readNew,
    [Symbol.dispose]() {
      clearInterval(timer);
      readNew();
    },
  };
}
