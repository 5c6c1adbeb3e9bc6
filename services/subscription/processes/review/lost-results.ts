import { formatMinor } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import {
  closeCase,
  listUndecided,
  lockUndecidedCase,
  type NewCase,
  openCase,
  renewCase,
} from "#kernel/review/cases.ts";
import type { Deps } from "../../deps.ts";
import { sumOf } from "../../domain/pool/rounding.ts";
import { listUnexplained, sumElsewhere, type Unexplained } from "../../store/lost-results.ts";

/** Prefix of the subjects of cases about results of a lost time that no posting explains, before the login of the Master. */
export const LOST_RESULTS = "lost_results:";

/** More reviews than Masters. */
const MAX_CASES = 10_000;

/**
 * What postings to Investors in the pools do not explain is what was posted to Investors who are in none by the books: it settles the flows of their
 * repeated assigns. When the amounts differ, operators decide. Whether nothing is left to decide.
 */
export async function reviewLostResults({ pool, now }: Deps): Promise<boolean> {
  const unexplained = await listUnexplained(pool);
  const elsewhere = await sumElsewhere(pool);
  const isExplained = elsewhere !== 0n && sumOf(unexplained.map(({ amount }) => amount)) === elsewhere;
  const open = new Map((isExplained ? [] : unexplained).map((each) => [LOST_RESULTS + each.login, each]));
  for (const { subject } of await listUndecided(pool, LOST_RESULTS, { after: 0n, limit: MAX_CASES })) {
    const found = open.get(subject);
    await inTransaction(pool, async (tx) => {
      const locked = await lockUndecidedCase(tx, subject);
      if (locked === undefined) return;
      if (found === undefined) await closeCase(tx, locked, now());
      else if (locked.amount !== found.amount) await renewCase(tx, locked, newCaseOf(found, elsewhere), now());
    });
  }
  for (const each of open.values()) await inTransaction(pool, (tx) => openCase(tx, newCaseOf(each, elsewhere), now()));
  return open.size === 0;
}

function newCaseOf({ login, amount }: Unexplained, elsewhere: bigint): NewCase {
  return {
    subject: LOST_RESULTS + login,
    reason: "lost_results",
    login,
    amount,
    evidence: { unexplained: formatMinor(amount), posted_outside_pools: formatMinor(elsewhere) },
    actions: ["acknowledge"],
  };
}
