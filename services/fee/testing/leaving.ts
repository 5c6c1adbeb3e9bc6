import { one, sql } from "#kernel/postgres/query.ts";
import { refuse } from "../refusals.ts";
import type { RecordFeesRequest, RecordFeesResponse } from "#proto/pamm/fee/v1/fee.ts";
import { type TransferAnswer, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { recordAnswers } from "../commands/record-answers.ts";
import { ACCOUNT_ARCHIVED } from "../domain/payment-outcome.ts";
import { recordFees } from "../commands/record-fees.ts";
import type { Deps } from "../deps.ts";
import { decideWeeks, type Leave, recordDecisions, requestOf } from "./deciding.ts";
import { aCall, INVESTOR, MASTER } from "./fee.ts";
import { formatMinor } from "#kernel/values/money.ts";
import { NEWEST } from "./subscription-fake.ts";
import type { World } from "./world.ts";

const WEEK_START = new Date("2026-01-03T00:00:00Z");

/** A withdrawal from the pool. */
export function aLeave(parts: Partial<Leave> = {}): Leave {
  return {
    key: "withdrawal:1",
    investorLogin: INVESTOR,
    masterLogin: MASTER,
    periodStart: WEEK_START,
    suffix: "WD1",
    ...parts,
  };
}

export type FormattedAnswer = { pending: string; items: [key: string, amount: string, isWeekly: boolean][] };

/** Decides a leave as subscription does, and has fee record it. Closed weeks are decided first. */
export async function decideLeave(
  world: World,
  parts: Partial<Leave> = {},
  deps: Deps = world.deps,
): Promise<FormattedAnswer> {
  await decideWeeks(world, deps);
  const request = await requestOf(world, deps, aLeave(parts));
  if (request === undefined) throw refuse("safety_stop", "The fees of the Master are stopped.");
  const answer = await recordFees(deps, request, aCall());
  await recordDecisions(world, deps);
  return formatAnswer(answer);
}

/** Has what is recorded under a key debited under the account lock, as subscription does, and its outcomes recorded; returns the debited amount. */
export async function collectAll(world: World, key = "withdrawal:1", deps: Deps = world.deps): Promise<string> {
  const decided = world.subscriptions.books.decisions.find(({ request }) => request.key === key);
  if (decided === undefined) throw new Error(`nothing was decided under ${key}`);
  return await collectOf(world, decided.request, deps);
}

/** As collectAll, of a decision. */
export async function collectOf(world: World, request: RecordFeesRequest, deps: Deps = world.deps): Promise<string> {
  const { platform, subscriptions } = world;
  const { key, investors } = request;
  const investorLogin = investors[0]?.investorLogin ?? "";
  const { transfers, stopped } = await recordFees(deps, request, aCall());
  if (stopped) throw refuse("safety_stop", "The fees of the Master are stopped.", { outcome: "unknown" });
  const lockOwner = `${key}:1`;
  const upTo = {
    floor: { currencyCode: "USD", minorUnits: subscriptions.floors.get(investorLogin) ?? 0n },
    filedNumber: subscriptions.filedNumbers.get(investorLogin) ?? NEWEST,
  };
  const chain = { requests: transfers.map((transfer) => ({ ...transfer, lockOwner, upTo })) };
  platform.accountLocks.set(investorLogin, lockOwner);
  const { answers } = await platform.client.transferChain(chain, aCall());
  platform.accountLocks.delete(investorLogin);
  const fees = answers.map((answer, index) => ({ key: transfers[index]?.key ?? "", answer }));
  for (const { key: feeKey, answer } of fees) {
    if (stateOf(answer) === TransferState.REFUSED) await deps.subscriptions.returnReserve({ key: feeKey }, aCall());
  }
  await recordAnswers(deps, { fees });
  if (answers.length < transfers.length || fees.some(({ answer }) => isUnknown(answer))) {
    throw refuse("outcome_unknown", "A fee has no outcome yet.", { outcome: "unknown" });
  }
  return await debitedUnder(deps, key);
}

function stateOf({ answer }: TransferAnswer): TransferState | undefined {
  return answer?.$case === "result" ? answer.value.legs[0]?.state : undefined;
}

function isUnknown(answer: TransferAnswer): boolean {
  if (answer.answer?.$case === "refusal") return answer.answer.value.code !== ACCOUNT_ARCHIVED;
  const state = stateOf(answer);
  return state !== TransferState.APPLIED && state !== TransferState.REFUSED;
}

async function debitedUnder({ pool }: Deps, key: string): Promise<string> {
  const { debited } = await one<{ debited: bigint }>(
    pool,
    sql`select coalesce(sum(payment.amount_minor), 0)::bigint as debited
        from fee_run as run join fee_payment as payment on payment.run_id = run.id or payment.key = any(run.weekly_keys)
        where run.key = ${key}`,
  );
  return formatMinor(debited);
}

/** What is pending is without the weekly fees. */
function formatAnswer({ items }: RecordFeesResponse): FormattedAnswer {
  const pending = items.reduce((sum, { amount, isWeekly }) => (isWeekly ? sum : sum + (amount?.minorUnits ?? 0n)), 0n);
  return {
    pending: formatMinor(pending),
    items: items.map(({ key, amount, isWeekly }) => [key, formatMinor(amount?.minorUnits ?? 0n), isWeekly]),
  };
}
