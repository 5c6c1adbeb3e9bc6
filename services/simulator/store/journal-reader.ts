import { createReadStream } from "node:fs";
import { StartupError } from "#kernel/process/startup-error.ts";
import type { Change } from "../domain/change.ts";
import { decodeChange } from "./change-codec.ts";

export type JournalFacts = {
  readonly changes: number;
  /** The end of the last complete line; a crash tore the rest, which no answer has confirmed. */
  readonly goodBytes: number;
};

const NEWLINE = 0x0a;
/** A long journal is read with few calls and little memory. */
const CHUNK_BYTES = 1024 * 1024;

/** Passes on every change of the file in order. A missing file has none. */
export async function readJournal(path: string, onChange: (change: Change) => void): Promise<JournalFacts> {
  const reading = { changes: 0, goodBytes: 0, badBytes: 0 };
  for await (const line of linesOf(path)) {
    const change = line.isWhole ? decodeChange(line.text) : undefined;
    if (change === undefined) {
      reading.badBytes += line.bytes;
      continue;
    }
    if (reading.badBytes > 0) throw damaged(path, reading.goodBytes);
    onChange(change);
    reading.changes += 1;
    reading.goodBytes += line.bytes;
  }
  return reading;
}

type Line = { readonly text: string; readonly bytes: number; readonly isWhole: boolean };

async function* linesOf(path: string): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunksOf(path)) {
    const buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = buffer.indexOf(NEWLINE); end !== -1; end = buffer.indexOf(NEWLINE, from)) {
      yield { text: buffer.toString("utf8", from, end), bytes: end + 1 - from, isWhole: true };
      from = end + 1;
    }
    rest = buffer.subarray(from);
  }
  if (rest.length > 0) yield { text: "", bytes: rest.length, isWhole: false };
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) yield Buffer.from(chunk);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}

/** A crash tears the last line only. Complete lines after a bad one mean another writer or a damaged disk. */
function damaged(path: string, at: number): StartupError {
  return new StartupError(
    `the journal ${path} is damaged at byte ${at}: restore it, or remove its folder to begin anew`,
  );
}
