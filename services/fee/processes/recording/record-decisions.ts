import assert from "node:assert/strict";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { type DecidedFee, type Decision, mastersOf } from "../../domain/decision.ts";
import { insertItems } from "../../store/collections.ts";
import { findTakable, nameOf, takeDebts } from "../../store/debts.ts";
import {
  type InsertedPayment,
  insertPayments,
  listKnownKeys,
  listOpenWeekly,
  type NewPayment,
} from "../../store/due-payments.ts";
import { endCollected } from "../payment/settle-payments.ts";
import { extendRun, insertRuns, listRecordedKeys, type NewRun } from "../../store/runs.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { lockMasters } from "../../store/masters.ts";
import { workTogether } from "../together.ts";

/** Masters of the decision that have to be inserted first; then nothing was recorded. Otherwise it is recorded, by this call or an earlier one. */
export type Recorded = { readonly unknownMasters: readonly string[] };

type Recorder = { readonly pool: Pool; readonly now: Clock };

/** Records some decisions in one commit. The Investors are distinct. What is recorded already stays as it is. */
export async function recordTogether(
  recorder: Recorder,
  decisions: readonly Decision[],
): Promise<(Recorded | Error)[]> {
  return await workTogether(decisions, (own) => inTransaction(recorder.pool, (tx) => record(tx, own, recorder.now())));
}

async function record(tx: Transaction, decisions: readonly Decision[], at: Date): Promise<Recorded[]> {
  const masters = await lockMasters(tx, decisions.flatMap(mastersOf));
  const recorded = decisions.map((decision) => ({
    decision,
    unknownMasters: mastersOf(decision).filter((login) => !masters.has(login)),
  }));
  const known = recorded.flatMap(({ decision, unknownMasters }) => (unknownMasters.length === 0 ? decision : []));
  await recordDepartures(tx, known.filter(isOfDeparture), at);
  for (const decision of known) if (!isOfDeparture(decision)) await recordWeek(tx, decision, at);
  return recorded;
}

/** Of a withdrawal or exit. */
export type DepartureDecision = Decision & { readonly key: string };

export function isOfDeparture(decision: Decision): decision is DepartureDecision {
  return decision.key !== undefined;
}

type InvestorFee = DecidedFee & { readonly investorLogin: string };

/** Each has a run, also when nothing is due of it: a repeated decision finds it. The Masters must be locked. */
export async function recordDepartures(
  tx: Transaction,
  decisions: readonly DepartureDecision[],
  at: Date,
): Promise<void> {
  if (decisions.length === 0) return;
  const keys = decisions.map(({ key }) => key);
  const recorded = await listRecordedKeys(tx, keys);
  const unrecorded = decisions.filter(({ key }) => !recorded.has(key));
  const taken = await listDue(tx, unrecorded.flatMap(feesOf));
  const due = unrecorded.map((decision) => ({ decision, fees: feesOf(decision).filter((fee) => taken.has(fee.key)) }));
  const runIds = await insertRuns(
    tx,
    due.map(({ decision, fees }) => ({ ...runOf(decision), payments: fees.length, isDecided: true })),
    at,
  );
  const isWeekly = false;
  const payments = due.flatMap(({ fees }, index) =>
    fees.map((fee) => ({ ...fee, isWeekly, runId: idOf(runIds[index]) })),
  );
  const inserted = await insertDue(tx, payments, at);
  await recordItems(tx, unrecorded, inserted);
}

/** Adds the payments of a page to the run of its week. A week without any payment has no run. The Masters must be locked. */
export async function recordWeek(tx: Transaction, decision: Decision, at: Date): Promise<void> {
  const fees = feesOf(decision);
  const keys = fees.map(({ key }) => key);
  const recorded = await listKnownKeys(tx, keys);
  const unrecorded = fees.filter(({ key }) => !recorded.has(key));
  const taken = await listDue(tx, unrecorded);
  const due = unrecorded.filter(({ key }) => taken.has(key));
  const run = { ...runOf(decision), payments: due.length, isDecided: decision.isLast };
  const runId = (await extendRun(tx, run)) ?? (await insertRuns(tx, due.length === 0 ? [] : [run], at)).at(0);
  const payments = due.map((fee) => ({ ...fee, isWeekly: true, runId: idOf(runId) }));
  await insertDue(tx, payments, at);
}

function feesOf({ investors }: Decision): InvestorFee[] {
  return investors.flatMap(({ investorLogin, due }) => due.map((fee) => ({ ...fee, investorLogin })));
}

function runOf({
  key,
  masterLogin,
  periodStart,
  periodEnd,
  markedAt,
}: Decision): Omit<NewRun, "payments" | "isDecided"> {
  return { kind: key === undefined ? "WEEKLY" : "ON_DEMAND", key, masterLogin, periodStart, periodEnd, markedAt };
}

function idOf(runId: bigint | undefined): bigint {
  assert(runId !== undefined, "payments have a run");
  return runId;
}

/** The keys of the fees that are due: a debt only while it has the amount that was decided, so that it is owed once. */
async function listDue(tx: Transaction, fees: readonly InvestorFee[]): Promise<ReadonlySet<string>> {
  const takable = await findTakable(
    tx,
    fees.filter(({ kind }) => kind === "PF_DEBT"),
  );
  return new Set(fees.flatMap((fee) => (fee.kind === "PF" || takable.has(nameOf(fee)) ? fee.key : [])));
}

/** What is to be collected of the payments, by the keys of their transfers: what imported fees have paid is ended. */
async function insertDue(
  tx: Transaction,
  payments: readonly NewPayment[],
  at: Date,
): Promise<ReadonlyMap<string, InsertedPayment>> {
  if (payments.length === 0) return new Map();
  const ids = await insertPayments(tx, payments, at);
  const inserted = payments.map((payment, index) => ({ payment, ...(ids[index] as InsertedPayment) }));
  await takeDebts(
    tx,
    inserted.flatMap(({ payment, id }) => (payment.kind === "PF_DEBT" ? { ...payment, paymentId: id } : [])),
  );
  const { ended = [], left = [] } = Object.groupBy(inserted, ({ isCollected }) => (isCollected ? "ended" : "left"));
  await endCollected(
    tx,
    ended.map(({ id }) => id),
    at,
  );
  return new Map(left.map((each) => [each.payment.key, each]));
}

/** Open weekly fees come first. What imported fees had paid is not collected. */
async function recordItems(
  tx: Transaction,
  decisions: readonly DepartureDecision[],
  inserted: ReadonlyMap<string, InsertedPayment>,
): Promise<void> {
  const wanted = decisions.map((decision) => ({
    decision,
    weekly: new Set(decision.investors.flatMap(({ openWeeklyKeys }) => openWeeklyKeys)),
  }));
  const waiting = wanted.filter(({ weekly }) => weekly.size > 0).flatMap(({ decision }) => loginsOf(decision));
  const open = waiting.length === 0 ? new Map<string, never[]>() : await listOpenWeekly(tx, waiting);
  await insertItems(
    tx,
    wanted.map(({ decision, weekly }) => ({
      key: decision.key,
      items: [
        ...loginsOf(decision).flatMap((login) => (open.get(login) ?? []).filter(({ key }) => weekly.has(key))),
        ...feesOf(decision).flatMap(({ key }) => inserted.get(key) ?? []),
      ],
    })),
  );
}

function loginsOf({ investors }: Decision): string[] {
  return investors.map(({ investorLogin }) => investorLogin);
}
