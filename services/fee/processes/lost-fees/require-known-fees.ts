import type { Queryable } from "#kernel/postgres/query.ts";
import type { RefusalOutcome } from "#kernel/refusal.ts";
import { feesUnknown } from "../../domain/fees-unknown.ts";
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
  throw feesUnknown(outcome);
}
