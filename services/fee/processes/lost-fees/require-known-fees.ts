import type { Queryable } from "#kernel/postgres/query.ts";
import { RETRY_AFTER_MS, type RefusalOutcome } from "#kernel/refusal.ts";
import { refuse } from "../../refusals.ts";
import { areFeesKnown, isDatabase } from "../../store/fee-search.ts";

export type Searching = { readonly searchingIn?: string };

/** Whether fees may be decided and sent in the database of the connection: all that platform has are known, or this is the search for them. */
export async function mayDecide(db: Queryable, { searchingIn }: Searching): Promise<boolean> {
  return searchingIn === undefined ? await areFeesKnown(db) : await isDatabase(db, searchingIn);
}

/** In the transaction of a decision: a failover to a database that lacks commits ends all transactions. */
export async function requireKnownFees(
  db: Queryable,
  searching: Searching,
  outcome: RefusalOutcome = "not_executed",
): Promise<void> {
  if (await mayDecide(db, searching)) return;
  throw refuse(
    "service_unavailable",
    "Fees that this database may have lost are being looked for after a restart of it. Retry shortly.",
    { outcome, retryAfterMs: RETRY_AFTER_MS },
  );
}
