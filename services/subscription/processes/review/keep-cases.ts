import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import {
  closeCase,
  listUndecided,
  lockUndecidedCase,
  type NewCase,
  openCase,
  renewCase,
} from "#kernel/review/cases.ts";
import type { Deps } from "../../deps.ts";

/** What a review is to be about now. */
export type WantedCase = {
  readonly newCase: NewCase;
  /** The review is about this, so that it stays as it is. */
  readonly isSame: (reviewCase: ReviewCase) => boolean;
};

/**
 * Keeps a review open for each of the facts that `list` finds as long as no operator has decided, and closes those with the prefix that are about
 * none of them. The reviews are read before the facts, so that one that another replica opens meanwhile is not closed.
 */
export async function keepCases(
  { pool, now }: Pick<Deps, "pool" | "now">,
  prefix: string,
  list: () => Promise<readonly WantedCase[]>,
): Promise<void> {
  const left = new Map((await listUndecided(pool, prefix)).map((each) => [each.subject, each]));
  for (const { newCase, isSame } of await list()) {
    const known = left.get(newCase.subject);
    left.delete(newCase.subject);
    if (known !== undefined && isSame(known)) continue;
    await inTransaction(pool, async (tx) => {
      const locked = known && (await lockUndecidedCase(tx, newCase.subject));
      if (known === undefined) await openCase(tx, newCase, now());
      // It may have been proposed since, for what is there now.
      else if (locked !== undefined && !isSame(locked)) await renewCase(tx, locked, newCase, now());
    });
  }
  for (const { subject } of left.values()) {
    await inTransaction(pool, async (tx) => {
      const locked = await lockUndecidedCase(tx, subject);
      if (locked !== undefined) await closeCase(tx, locked, now());
    });
  }
}
