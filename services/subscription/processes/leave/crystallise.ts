import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { decideLeave, type DueFee, type LeaveDecision, openClaims } from "../../domain/decide-leave.ts";
import { refuse } from "../../refusals.ts";
import { crystalliseRequest } from "../../messages/crystallise-request.ts";
import { listTakenFees } from "../../store/fees.ts";
import type { Leave } from "../../store/leaves.ts";
import { listOpenReserves } from "../../store/reserves.ts";
import { waitBudget } from "../deadlines.ts";

/** The gate stays closed during this wait; after it the recovery job finishes the decision. */
const WAIT_MS = 2_000;

/** A settled leave, with the fees that its Investor owes at its log position in the order of collection. */
export type Crystallised<L extends Leave = Leave> = { readonly leave: L; readonly due: readonly DueFee[] };

/** Safe to repeat: fee always returns the same items for the same key. */
export async function crystallise<L extends Leave>(
  deps: Deps,
  leave: L,
  context: CallContext,
): Promise<Crystallised<L>> {
  const request = crystalliseRequest(leave);
  const wait = waitBudget(context, WAIT_MS);
  for (;;) {
    try {
      const { items } = await deps.fees.crystallise(request, withReplyReserve(context));
      const due = items.map(({ key, amount, isWeekly }) => ({ key, amount: moneyFromProto(amount).minor, isWeekly }));
      return { leave, due };
    } catch (error) {
      if (!wait.isOver()) {
        await wait.pause();
        continue;
      }
      deps.log.info("performance fee not crystallised, retry scheduled", {
        key: leave.key,
        login: leave.investorLogin,
        error,
      });
      throw refuse("outcome_unknown", "The withdrawal is decided. Its performance fee is not known yet.", {
        outcome: "unknown",
      });
    }
  }
}

/**
 * Decides the amounts of settled leaves, each of another Investor, with the fees that are still due and the reserves that are
 * open now. Returned in the order of the leaves.
 */
export async function decideAmounts(
  tx: Transaction,
  leaves: readonly (Crystallised & { readonly pooled: bigint })[],
): Promise<LeaveDecision[]> {
  const reserves = await listOpenReserves(
    tx,
    leaves.map(({ leave }) => leave.investorLogin),
  );
  const reservesOf = Map.groupBy(reserves, ({ investorLogin }) => investorLogin);
  const taken = await listTakenFees(
    tx,
    leaves.flatMap(({ due }) => due.map(({ key }) => key)),
  );
  return leaves.map(({ leave, due, pooled }) => {
    const { kind, requested, heldBalance: held, unposted, quarantined, payoutKey } = leave;
    assert(unposted !== null && quarantined !== null, "a settled leave has its facts");
    const claims = openClaims({ due, taken, reserves: reservesOf.get(leave.investorLogin) ?? [] });
    return decideLeave({ kind, requested, held, unposted, quarantined, pooled, ...claims }, payoutKey);
  });
}
