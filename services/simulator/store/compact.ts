import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Change } from "../domain/change.ts";
import type { Books } from "./books.ts";
import { encodeChange } from "./change-codec.ts";
import { syncFolder } from "./folder.ts";

/** A journal is rewritten when it holds this many times the changes of the books, and at least a minimum. */
const GROWTH = 2;
const MIN_WASTE = 10_000;
/** The lines of one write are in memory as one text. */
const LINES_PER_WRITE = 5_000;

export function isWorthCompacting(changes: number, books: Books): boolean {
  const live = books.accounts.size + books.deals.size + books.positions.size + books.quotes.size;
  return changes > GROWTH * live && changes > live + MIN_WASTE;
}

/** Writes the books as a new journal and replaces the old one in one step. Resolves with its size. */
export async function compactJournal(path: string, books: Books): Promise<number> {
  const fresh = `${path}.new`;
  const file = await open(fresh, "w", 0o600);
  let bytes = 0;
  try {
    for (const lines of batchesOf(booksAsChanges(books))) {
      await file.appendFile(lines);
      bytes += Buffer.byteLength(lines);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
  await syncFolder(dirname(path));
  return bytes;
}

function* booksAsChanges(books: Books): Generator<Change> {
  for (const group of books.groups.values()) yield { kind: "group", group };
  for (const account of books.accounts.values()) yield { kind: "account", account };
  for (const deal of books.deals.values()) yield { kind: "history", deal };
  for (const position of books.positions.values()) yield { kind: "position", position };
  for (const quote of books.quotes.values()) yield { kind: "quote", quote };
  for (const session of books.sessions.values()) yield { kind: "session", session };
  yield { kind: "counters", counters: { ...books.counters } };
}

function* batchesOf(changes: Iterable<Change>): Generator<string> {
  let lines: string[] = [];
  for (const change of changes) {
    lines.push(encodeChange(change));
    if (lines.length < LINES_PER_WRITE) continue;
    yield lines.join("");
    lines = [];
  }
  yield lines.join("");
}
