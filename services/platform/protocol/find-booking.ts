import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Step } from "../domain/operation.ts";
import { listExplainedDeals, listExplainedDealsOf } from "../store/log.ts";
import type { RecordedOperation } from "../store/operation-row.ts";

/** A deal that is in the books already. */
export type Booking = { readonly ticket: bigint; readonly isOwnLogin: boolean };

/** Where the deal that a step would book stands already; undefined when it stands nowhere, or the step books none. */
export async function findBooking(
  tx: Transaction,
  { login }: RecordedOperation,
  next: Step,
  server: string,
): Promise<Booking | undefined> {
  if (next.kind !== "move" || next.to.state !== "APPLIED" || !next.writes.includes("deal")) return undefined;
  const { ticket } = next.to;
  const explained = await listExplainedDeals(tx, server, [ticket]);
  if (!explained.has(ticket)) return undefined;
  const own = await listExplainedDealsOf(tx, server, login, [ticket]);
  return { ticket, isOwnLogin: own.has(ticket) };
}
