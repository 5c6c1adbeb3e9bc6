import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type {
  CrystalliseRequest,
  CrystalliseResponse,
  PrepareRequest,
  PrepareResponse,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { decideDebts, decideDue, type DecidedDue, sumOfDue } from "../domain/due.ts";
import { refuse } from "../refusals.ts";
import {
  completeCrystallisation,
  findCrystallisation,
  insertCrystallisation,
  listCrystallisedItems,
  type StoredCrystallisation,
} from "../store/crystallisations.ts";
import { listOpenWeekly } from "../store/due-payments.ts";
import { findMaster, lockMaster } from "../store/masters.ts";
import { savePairs } from "../store/pairs.ts";
import { type Books, openBooks } from "../processes/accounting/open-books.ts";
import { readMaster } from "../processes/accounting/read-master.ts";
import { recordDue } from "../processes/accounting/record-due.ts";
import { safetyStop } from "../domain/safety-stop.ts";

/** Reads a Master's allocations in advance, so that the crystallisation that follows has little left to read. */
export async function prepare(
  deps: Deps,
  { masterLogin }: PrepareRequest,
  context: CallContext,
): Promise<PrepareResponse> {
  await readMaster(deps, masterLogin, context);
  return {};
}

/** Length of the period of a run without a known start; the period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

type Requested = Omit<StoredCrystallisation, "pending"> & {
  readonly suffix: string;
  readonly periodStart: Date | undefined;
};

/**
 * Fixes the fees and debts that an Investor owes at an entry of the Master's allocations. Moves no money. A repeated key gets
 * the same answer, also while the Master is stopped; then no new key is decided.
 */
export async function crystallise(
  deps: Deps,
  request: CrystalliseRequest,
  context: CallContext,
): Promise<CrystalliseResponse> {
  const requested = requestedOf(request);
  const known = await findCrystallisation(deps.pool, requested.key);
  if (known === undefined) {
    const { masterLogin, throughNumber } = requested;
    if (masterLogin !== undefined) await readThrough(deps, masterLogin, throughNumber, context);
    await inTransaction(deps.pool, (tx) => decideOnce(tx, requested, deps.now()));
  }
  return await answer(deps.pool, requested);
}

function requestedOf(request: CrystalliseRequest): Requested {
  const { key, investorLogin, subscriptionId, throughNumber, suffix, periodStart, at } = request;
  if (at === undefined || key === "" || suffix === "") {
    throw refuse("validation_failed", "A crystallisation requires a key, an instant and a suffix.");
  }
  const masterLogin = request.masterLogin === "" ? undefined : request.masterLogin;
  return { key, investorLogin, masterLogin, subscriptionId, throughNumber, suffix, periodStart, at };
}

/** Reads the allocations up to that entry, which decides all weeks closed before it, for all Investors of the pool. */
async function readThrough(deps: Deps, masterLogin: string, through: bigint, context: CallContext): Promise<void> {
  const master = await findMaster(deps.pool, masterLogin);
  if (master !== undefined && master.read.number >= through) return;
  const { number } = await readMaster(deps, masterLogin, context);
  assert(number >= through, `allocations of ${masterLogin} end with ${number}, before ${through}`);
}

async function decideOnce(tx: Transaction, requested: Requested, at: Date): Promise<void> {
  if (!(await insertCrystallisation(tx, requested, at))) return;
  const { key, masterLogin, throughNumber, investorLogin } = requested;
  if (masterLogin !== undefined) {
    const { breakReason } = await lockMaster(tx, masterLogin);
    if (breakReason !== undefined) throw safetyStop(masterLogin, "break");
  }
  const [books] = await openBooks(tx, [{ investorLogin, masterLogin, throughNumber }]);
  assert(books !== undefined, "openBooks returns the books of each Investor");
  const weekly = await listOpenWeekly(tx, investorLogin);
  const { due, earnings } = decide(requested, books);
  if (books.pair !== undefined) {
    const isCrystallised = earnings.mark !== books.pair.earnings.mark;
    const crystallisedAt = isCrystallised ? requested.at : books.pair.crystallisedAt;
    await savePairs(tx, [{ ...books.pair, earnings, crystallisedAt }]);
  }
  const decided = { run: runOf(requested, books, due), suffix: requested.suffix, investors: investorDue(books, due) };
  const [ids = []] = await recordDue(tx, [decided], at);
  const items = ids.map((paymentId, index) => ({ paymentId, amount: due[index]?.amount ?? 0n, isWeekly: false }));
  const open = weekly.map(({ id, due: amount }) => ({ paymentId: id, amount, isWeekly: true }));
  await completeCrystallisation(tx, { key, pending: sumOfDue(due) }, [...open, ...items]);
}

/** Money leaves the pool only while the Master is flat, so there is no floating result. Outside a pool only debts are due. */
function decide({ masterLogin, at }: Requested, { pair, debts, terms }: Books): DecidedDue {
  const versions = terms?.versions ?? [];
  const earnings = pair?.earnings ?? { earned: 0n, mark: 0n, layers: [] };
  if (masterLogin === undefined) return { earnings, due: decideDebts({ versions, debts, at }) };
  return decideDue({ masterLogin, earnings, versions, debts, floating: 0n, markedAt: undefined, at });
}

function runOf({ key, masterLogin, at, periodStart }: Requested, { pair }: Books, due: DecidedDue["due"]) {
  const starts = [pair?.crystallisedAt, periodStart].filter((start) => start !== undefined && start < at);
  const latest = starts.reduce<Date | undefined>(
    (left, right) => (left === undefined || (right !== undefined && right > left) ? right : left),
    undefined,
  );
  return {
    kind: "ON_DEMAND",
    key,
    masterLogin: masterLogin ?? due[0]?.masterLogin ?? "",
    periodStart: latest ?? new Date(at.getTime() - MIN_PERIOD_MS),
    periodEnd: at,
    markedAt: undefined,
    isDecided: true,
  } as const;
}

function investorDue({ investorLogin, terms }: Books, due: DecidedDue["due"]) {
  return terms === undefined ? [] : [{ investorLogin, investorId: terms.investorId, due }];
}

/** Built from the stored rows, so that a repetition gets the same answer. */
async function answer(db: Queryable, { key, investorLogin, masterLogin }: Requested): Promise<CrystalliseResponse> {
  const known = await findCrystallisation(db, key);
  assert(known !== undefined, "a decided crystallisation is recorded");
  if (known.investorLogin !== investorLogin || known.masterLogin !== masterLogin) {
    throw refuse("validation_failed", "The key was used for another crystallisation.");
  }
  const items = await listCrystallisedItems(db, key);
  return {
    pending: moneyToProto(usd(known.pending)),
    items: items.map((item) => ({ key: item.key, amount: moneyToProto(usd(item.amount)), isWeekly: item.isWeekly })),
  };
}
