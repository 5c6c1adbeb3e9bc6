import { join } from "node:path";
import { applyChange, type Books, emptyBooks } from "./books.ts";
import { compactJournal, isWorthCompacting } from "./compact.ts";
import { syncFolder } from "./folder.ts";
import { type Journal, openJournal } from "./journal.ts";
import { readJournal } from "./journal-reader.ts";

const JOURNAL_FILE = "journal.log";

/** The books at the end of the last process, and the journal that continues them. */
export async function openBooks(
  folder: string,
  firstLogin: number,
): Promise<{ readonly books: Books; readonly journal: Journal }> {
  const path = join(folder, JOURNAL_FILE);
  const books = emptyBooks(firstLogin);
  const { changes, goodBytes } = await readJournal(path, (change) => applyChange(books, change));
  const bytes = isWorthCompacting(changes, books) ? await compactJournal(path, books) : goodBytes;
  const journal = await openJournal(path, bytes);
  await syncFolder(folder);
  return { books, journal };
}
