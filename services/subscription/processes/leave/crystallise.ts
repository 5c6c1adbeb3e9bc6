import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { decideLeave, type DueFee, type LeaveDecision } from "../../domain/decide-leave.ts";
import { refuse } from "../../refusals.ts";
import { listTakenFees } from "../../store/fees.ts";
import type { Leave } from "../../store/leaves.ts";
import { listOpenReserves } from "../../store/reserves.ts";
import { waitBudget } from "../deadlines.ts";

/** The gate stays closed during this wait; after it the recovery job finishes the decision. */
const WAIT_MS = 2_000;

/**
 * The fees that the Investor of a settled leave owes at its log position, in the order of collection. Safe to repeat: fee
 * always returns the same items for the same key.
 */
export async function crystallise(deps: Deps, leave: Leave, context: CallContext): Promise<DueFee[]> {
  const { settledAt, periodStart, allocationNumber } = leave;
  assert(settledAt !== null && periodStart !== null && allocationNumber !== null, "a settled leave has its facts");
  const request = {
    key: leave.key,
    investorLogin: leave.investorLogin,
    masterLogin: leave.masterLogin ?? "",
    subscriptionId: leave.subscriptionId ?? 0n,
    throughNumber: allocationNumber,
    periodStart,
    at: settledAt,
    suffix: leave.feeSuffix,
  };
  const wait = waitBudget(context, WAIT_MS);
  for (;;) {
    try {
      const { items } = await deps.fees.crystallise(request, withReplyReserve(context));
      return items.map(({ key, amount, isWeekly }) => ({ key, amount: moneyFromProto(amount).minor, isWeekly }));
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

/** Decides the amounts of a settled leave, with the fees that are still due and the reserves that are open now. */
export async function decideAmounts(
  tx: Transaction,
  leave: Leave,
  pooled: bigint,
  due: readonly DueFee[],
): Promise<LeaveDecision> {
  const { kind, requested, heldBalance: held, unposted, quarantined, payoutKey } = leave;
  assert(unposted !== null && quarantined !== null, "a settled leave has its facts");
  const open = await listOpenReserves(tx, leave.investorLogin);
  const reserved = open.reduce((total, { amount }) => total + amount, 0n);
  const owed = await stillDue(tx, due, open);
  return decideLeave({ kind, requested, held, unposted, quarantined, reserved, pooled, due: owed }, payoutKey);
}

/** Without the fees of weekly runs that were already debited or reserved, which fee may not have recorded yet. */
async function stillDue(
  db: Queryable,
  due: readonly DueFee[],
  reserved: readonly { readonly key: string }[],
): Promise<DueFee[]> {
  const taken = await listTakenFees(
    db,
    due.map(({ key }) => key),
  );
  const reservedKeys = new Set(reserved.map(({ key }) => key));
  return due.filter(({ key, isWeekly }) => !taken.has(key) && !(isWeekly && reservedKeys.has(key)));
}
