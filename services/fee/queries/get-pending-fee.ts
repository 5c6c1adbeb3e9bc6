import { setTimeout as sleep } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { queryContext, REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { GetPendingFeeRequest, PendingFee } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { calculationOf } from "../domain/fee-calculation.ts";
import { pendingLines } from "../domain/pending-lines.ts";
import { decidePending } from "../domain/pending.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { calculationMessage } from "../messages/calculation.ts";
import { allocationInProgress } from "../domain/allocation-in-progress.ts";
import { type FactsNow, type PoolNow, readFacts } from "./pending-facts.ts";
import { findLastDeal } from "../store/explained-payments.ts";
import { findMaster } from "../store/masters.ts";

/** Pause while the job reads the newest allocations of the Master. */
const PAUSE_MS = 50;
/** The debts that are listed; their sum has all of them. */
const MAX_DEBTS = 100;

/** What an Investor would pay if everything were crystallised now. Decides by the rule of weeks and withdrawals, and records nothing. */
export async function getPendingFee(
  deps: Deps,
  { investorLogin }: GetPendingFeeRequest,
  context: CallContext,
): Promise<PendingFee> {
  const { pool, now } = await readNow(deps, investorLogin, context);
  // An unknown Investor is refused; a known one without a configuration owes nothing.
  if (!now.isKnown) await deps.accounts.findInvestor({ login: investorLogin }, queryContext(context));
  const pending = decidePending(now.facts);
  const calculation = pending.explanation && calculationOf(pending.explanation);
  const lastDeal = pool && (await findLastDeal(deps.pool, pool.masterLogin, pool.throughNumber));
  const openWeekly = now.openWeekly.reduce((sum, { due }) => sum + due, 0n);
  const money = (minor: bigint) => moneyToProto(usd(minor));
  return {
    investorLogin,
    masterLogin: pool?.masterLogin,
    enabled: pending.isEnabled,
    at: pending.at,
    pending: money(pending.total),
    fee: money(pending.fee),
    debt: money(pending.debt),
    prepaid: money(pending.prepaid),
    calculation: calculation && calculationMessage(calculation, lastDeal),
    debts: pending.debts.slice(0, MAX_DEBTS).map(({ masterLogin, amount, since }) => {
      return { masterLogin, amount: money(amount), owedSince: since };
    }),
    openWeekly: money(openWeekly),
    lines: pendingLines(pending, calculation, openWeekly),
  };
}

/** The floating share and the books belong to the same entry of the Master's allocations. */
async function readNow(
  deps: Deps,
  investorLogin: string,
  context: CallContext,
): Promise<{ readonly pool: PoolNow | undefined; readonly now: FactsNow }> {
  for (;;) {
    const pool = await readPool(deps, investorLogin, context);
    if (pool !== undefined) await waitUntilRead(deps, pool, context);
    const now = await readFacts(deps, { investorLogin, pool, at: deps.now() }, context);
    if (now !== "newer" && now !== "unfinished") return { pool, now };
    if (now === "unfinished" || !hasTime(context)) throw allocationInProgress(pool?.masterLogin);
  }
}

async function readPool(
  { subscriptions }: Deps,
  investorLogin: string,
  context: CallContext,
): Promise<PoolNow | undefined> {
  const share = await subscriptions.readFloatingShare({ investorLogin }, queryContext(context));
  const { masterLogin, throughNumber, floatingE8: floating, markedAt } = share;
  return masterLogin === undefined ? undefined : { masterLogin, throughNumber, floating, markedAt };
}

/** A Master without allocations need not be known yet. */
async function waitUntilRead(
  { pool, wakeSignals }: Deps,
  { masterLogin, throughNumber }: PoolNow,
  context: CallContext,
): Promise<void> {
  for (;;) {
    const master = await findMaster(pool, masterLogin);
    if (master?.breakReason !== undefined) throw safetyStop(masterLogin, "break");
    if ((master?.read.number ?? 0n) >= throughNumber) return;
    if (master?.stoppedReason !== undefined) throw safetyStop(masterLogin, "unreadable");
    if (!hasTime(context)) throw allocationInProgress(masterLogin);
    wakeSignals.reading.notify();
    await sleep(PAUSE_MS);
  }
}

function hasTime(context: CallContext): boolean {
  return remainingMs(context) >= REPLY_RESERVE_MS + PAUSE_MS;
}
