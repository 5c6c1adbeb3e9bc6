import assert from "node:assert/strict";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { DecidedFee } from "#proto/pamm/fee/v1/fee.ts";
import type { Decision } from "../../messages/decision.ts";
import { findTakable, nameOf, takeDebts } from "../../store/debts.ts";
import {
  type InsertedPayment,
  insertPayments,
  listKnownKeys,
  listOpenWeekly,
  type NewPayment,
} from "../../store/due-payments.ts";
import { type Committer, endCollected } from "../payment/settle-payments.ts";
import { extendRun, insertRuns, type NewRun } from "../../store/runs.ts";
import { lockMasters } from "../../store/masters.ts";
import { workTogether } from "../together.ts";

/** Masters of the decision that have to be inserted first; then nothing was recorded. Otherwise it is recorded, by this call or an earlier one. */
export type Recorded = { readonly unknownMasters: readonly string[] };

/** Records some decisions in one commit. The Investors are distinct. What is recorded already stays as it is. */
export async function recordTogether(
  { pool, now }: Omit<Committer, "log">,
  decisions: readonly Decision[],
): Promise<(Recorded | Error)[]> {
  return await workTogether(decisions, (own) => inTransaction(pool, (tx) => record(tx, own, now())));
}

async function record(tx: Transaction, decisions: readonly Decision[], at: Date): Promise<Recorded[]> {
  const masters = await lockMasters(tx, decisions.flatMap(mastersOf));
  const recorded = decisions.map((decision) => ({
    decision,
    unknownMasters: mastersOf(decision).filter((login) => !masters.has(login)),
  }));
  const known = recorded.flatMap(({ decision, unknownMasters }) => (unknownMasters.length === 0 ? decision : []));
  const { weeks = [], departures = [] } = Object.groupBy(known, ({ key }) => (key === "" ? "weeks" : "departures"));
  await recordDepartures(tx, departures, at);
  for (const week of weeks) await recordWeek(tx, week, at);
  return recorded;
}

/** All Masters that fees of a decision go to, and that of its run. */
function mastersOf({ masterLogin, investors }: Decision): string[] {
  const owed = investors.flatMap(({ due }) => due.map((fee) => fee.masterLogin));
  return [...new Set([masterLogin, ...owed])].filter((login) => login !== "");
}

type InvestorFee = DecidedFee & { readonly investorLogin: string };

/** Each has a run, also when nothing is due of it: a repeated decision finds it, and changes nothing. The Masters must be locked. */
async function recordDepartures(tx: Transaction, decisions: readonly Decision[], at: Date): Promise<void> {
  const taken = await listDue(tx, decisions.flatMap(feesOf));
  const open = await listOpenWeeklyOf(tx, decisions);
  const due = decisions.map((decision) => ({ decision, fees: feesOf(decision).filter(({ key }) => taken.has(key)) }));
  const runIds = await insertRuns(
    tx,
    due.map(({ decision }) => ({
      ...runOf(decision),
      weeklyKeys: decision.investors.flatMap(({ openWeeklyKeys }) => openWeeklyKeys.filter((key) => open.has(key))),
      isDecided: true,
    })),
    at,
  );
  const payments = due.flatMap(({ decision, fees }) => {
    const runId = runIds.get(decision.key);
    return runId === undefined ? [] : fees.map((fee) => ({ ...fee, isWeekly: false, runId }));
  });
  await insertDue(tx, payments, at);
}

/** Keys of the payments of weeks that the decisions collect first, as far as they are still open. */
async function listOpenWeeklyOf(tx: Transaction, decisions: readonly Decision[]): Promise<ReadonlySet<string>> {
  const waiting = decisions.flatMap((each) => each.investors).filter((each) => each.openWeeklyKeys.length > 0);
  if (waiting.length === 0) return new Set();
  const logins = waiting.map(({ investorLogin }) => investorLogin);
  return await listOpenWeekly(tx, logins);
}

/** Adds the payments of a page to the run of its week. A week without any payment has no run. The Masters must be locked. */
async function recordWeek(tx: Transaction, decision: Decision, at: Date): Promise<void> {
  const fees = feesOf(decision);
  const keys = fees.map(({ key }) => key);
  const recorded = await listKnownKeys(tx, keys);
  const unrecorded = fees.filter(({ key }) => !recorded.has(key));
  const taken = await listDue(tx, unrecorded);
  const due = unrecorded.filter(({ key }) => taken.has(key));
  const run = { ...runOf(decision), weeklyKeys: [], isDecided: decision.isLast };
  const runId = (await extendRun(tx, run)) ?? (await insertRuns(tx, due.length === 0 ? [] : [run], at)).get(undefined);
  const payments = due.map((fee) => {
    assert(runId !== undefined, "payments have a run");
    return { ...fee, isWeekly: true, runId };
  });
  await insertDue(tx, payments, at);
}

function feesOf({ investors }: Decision): InvestorFee[] {
  return investors.flatMap(({ investorLogin, due }) => due.map((fee) => ({ ...fee, investorLogin })));
}

function runOf({ key, masterLogin, periodStart, periodEnd }: Decision): Omit<NewRun, "isDecided" | "weeklyKeys"> {
  const run = { masterLogin, periodStart, periodEnd };
  return key === "" ? { kind: "WEEKLY", key: undefined, ...run } : { kind: "ON_DEMAND", key, ...run };
}

/** The keys of the fees that are due: a debt only while it has the amount that was decided, so that it is owed once. */
async function listDue(tx: Transaction, fees: readonly InvestorFee[]): Promise<ReadonlySet<string>> {
  const takable = await findTakable(
    tx,
    fees.filter(({ kind }) => kind === "PF_DEBT"),
  );
  return new Set(fees.flatMap((fee) => (fee.kind !== "PF_DEBT" || takable.has(nameOf(fee)) ? fee.key : [])));
}

/** What imported fees have paid is ended. */
async function insertDue(tx: Transaction, payments: readonly NewPayment[], at: Date): Promise<void> {
  if (payments.length === 0) return;
  const ids = await insertPayments(tx, payments, at);
  const inserted = payments.map((payment, index) => ({ payment, ...(ids[index] as InsertedPayment) }));
  await takeDebts(
    tx,
    inserted.flatMap(({ payment, id }) => (payment.kind === "PF_DEBT" ? { ...payment, paymentId: id } : [])),
  );
  await endCollected(
    tx,
    inserted.flatMap(({ id, isCollected }) => (isCollected ? id : [])),
    at,
  );
}
