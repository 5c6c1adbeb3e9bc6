import type { Transaction } from "#kernel/postgres/transaction.ts";
import { LEG_KINDS } from "../domain/leg-kind.ts";
import type { LegEvent, RefusalReason } from "../domain/leg.ts";
import type { LostMovement } from "../domain/lost-movement.ts";
import type { Account } from "../store/accounts.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { listRepeats } from "../store/lost-movements.ts";
import { arePermitsGranted } from "../store/permit-gate.ts";

type UnsentLeg = Pick<RecordedLeg, "login" | "status" | "amountMinor" | "comment">;

/**
 * The end of a leg without a permit; undefined while it has to wait. In a database whose history was not read, or has shown lost commits, the leg may have
 * been executed, and a process that was not stopped may not know yet that it is connected to such a one. The account is locked.
 */
export async function endUnsent(
  tx: Transaction,
  account: Account,
  leg: UnsentLeg,
  reason: RefusalReason,
): Promise<LegEvent | undefined> {
  if (account.mayLackDeals || !(await arePermitsGranted(tx))) return undefined;
  const isRepeated = (await listRepeatedLegs(tx, [{ account, leg }])).size > 0;
  return { type: "given_up", reason: isRepeated ? "possible_duplicate" : reason };
}

/**
 * Deposits and withdrawals that were recorded before it was known that the database had lost an equal one: they are never sent, as an equal request is
 * not accepted any more.
 */
export async function listRepeatedLegs<Candidate extends { readonly account: Account; readonly leg: UnsentLeg }>(
  tx: Transaction,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<Candidate, LostMovement>> {
  return await listRepeats(tx, candidates, ({ account, leg }) =>
    account.hasLostMovements && LEG_KINDS[leg.status.kind].origin === "external" ? leg : undefined,
  );
}
