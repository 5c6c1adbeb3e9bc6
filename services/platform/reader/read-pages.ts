import { concurrently } from "#kernel/batches/concurrently.ts";
import type { Deal, Period } from "../mt5/deals.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { batchesOf } from "../mt5/fields.ts";

export type PageReading = {
  readonly find: (page: readonly string[], period: Period) => Promise<readonly Deal[]>;
  /** Files what a page has shown. */
  readonly take: (deals: readonly Deal[]) => Promise<void>;
  readonly period: Period;
  /** Pages at once. */
  readonly concurrency: number;
};

/** What could not be read, while the other pages were. */
export type NotRead = { readonly unreadable: readonly string[]; readonly failures: readonly unknown[] };

/**
 * Reads the history of logins, page by page. A page whose answer is not as documented is read again in halves, down to the accounts that it
 * concerns. When it concerns every account of a page, it is the answers that fail, and not the accounts.
 */
export async function readPages(logins: readonly string[], reading: PageReading): Promise<NotRead> {
  const unreadable: string[] = [];
  const failures: unknown[] = [];
  await concurrently(batchesOf(logins), reading.concurrency, async (page) => {
    try {
      const found = await readPage(page, reading);
      if (found.length < page.length || page.length === 1) unreadable.push(...found);
      else failures.push(new Mt5Error("bad_answer", "no account of a page could be read"));
    } catch (error) {
      failures.push(error);
    }
  });
  return { unreadable, failures };
}

/** Returns accounts with a deal that is not as documented. */
async function readPage(page: readonly string[], reading: PageReading): Promise<readonly string[]> {
  try {
    await reading.take(await reading.find(page, reading.period));
    return [];
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    if (page.length === 1) return page;
    const half = Math.ceil(page.length / 2);
    const first = await readPage(page.slice(0, half), reading);
    return [...first, ...(await readPage(page.slice(half), reading))];
  }
}

/** An answer that is not as documented, however often it is asked for. */
export function isUnreadable(error: unknown): error is Mt5Error {
  return error instanceof Mt5Error && error.problem === "bad_answer";
}
