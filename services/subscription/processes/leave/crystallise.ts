import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Deps } from "../../deps.ts";
import type { DueFee } from "../../domain/decide-leave.ts";
import { refuse } from "../../refusals.ts";
import { listTakenFees } from "../../store/fee-debits.ts";
import type { Leave } from "../../store/leaves.ts";
import { waitBudget } from "../deadlines.ts";

/** The gate is closed meanwhile; who waits longer leaves it to the settling job. */
const WAIT_MS = 2_000;

/**
 * What the Investor of a settled leave owes at its place, in the order in which it is taken. Fee answers the same key the
 * same for ever, so it is asked until it answers.
 */
export async function crystallise(deps: Deps, leave: Leave, context: CallContext): Promise<DueFee[]> {
  const { settledAt, periodStart, allocationNumber } = leave;
  assert(settledAt !== null && periodStart !== null && allocationNumber !== null, "what is settled has its facts");
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
      deps.log.error("a fee is fixed later", { key: leave.key, login: leave.investorLogin, error });
      throw refuse("outcome_unknown", "The withdrawal is decided. Its performance fee is not known yet.", {
        outcome: "unknown",
      });
    }
  }
}

/** Fees of weekly runs may have been taken, or set apart, before fee has heard of it. */
export async function stillDue(
  db: Queryable,
  due: readonly DueFee[],
  reserved: readonly { readonly key: string }[],
): Promise<DueFee[]> {
  const taken = await listTakenFees(
    db,
    due.map(({ key }) => key),
  );
  const setApart = new Set(reserved.map(({ key }) => key));
  return due.filter(({ key, isWeekly }) => !taken.has(key) && !(isWeekly && setApart.has(key)));
}
