import assert from "node:assert/strict";
import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { retryLevel } from "#kernel/jobs/transient-failure.ts";
import {
  type ClaimedFee,
  type GetPermitsResponse,
  PermitState,
  type ImportedFee,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { moneyFromProto, usdToProto } from "#kernel/contract/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { AccountKind } from "#proto/pamm/account/v1/account.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { isOpen } from "../domain/payment-outcome.ts";
import { addPrepaid } from "../store/debts.ts";
import { insertImportedPayment, listByHash, markDebited } from "../store/settled-payments.ts";
import type { DuePayment } from "../store/due-payments.ts";
import { insertMaster, lockMaster } from "../store/masters.ts";
import { insertRuns } from "../store/runs.ts";
import { endCollected } from "../processes/payment/settle-payments.ts";

const CALL_MS = 5_000;
/** Fees that are claimed in one call. */
const PAGE = 100;
/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;
const ANY_STATUS = SubscriptionStatus.UNSPECIFIED;

/**
 * After a restore platform imports the fees that the database has lost. They are recorded as payments before operators can resume: then platform learns it. Those that
 * could not be recorded then, because an account could not be read, or a Master was not registered again, are recorded when they can. Idempotent, so after a crash it is repeated.
 */
export async function recordImportedFees(deps: Deps): Promise<boolean> {
  try {
    const permits = await deps.platform.getPermits({}, callOf());
    const isAwaited = awaitsReport(permits);
    if (isAwaited || permits.state === PermitState.GRANTED) await recordAll(deps, isAwaited);
    if (isAwaited) {
      await deps.platform.reportRecovered({ service: "fee", generation: permits.generation }, callOf());
    }
  } catch (error) {
    deps.log[retryLevel(error)]("fees of a lost time not recorded, retry scheduled", { error });
  }
  return false;
}

/** Everything that the database has lost is imported, and platform has not learnt of each service that it is in the books. */
function awaitsReport({ state, importComplete, blocking }: GetPermitsResponse): boolean {
  return state === PermitState.STOPPED && importComplete && blocking.some(({ code }) => code === "owner_not_recovered");
}

/** Page by page: the fees of a page are claimed when they are recorded. */
async function recordAll(deps: Deps, isAwaited: boolean): Promise<void> {
  const { platform, log, wakeSignals } = deps;
  for (let afterTransferId = 0n; ;) {
    const { fees } = await platform.listImportedFees({ afterTransferId, limit: PAGE }, callOf());
    const last = fees.at(-1);
    if (last === undefined) return;
    afterTransferId = last.transferId;
    const claimed: ClaimedFee[] = [];
    for (const fee of fees) {
      const { investorLogin: login, debitDealId: ticket } = fee;
      const claim = await recordImported(deps, fee);
      if (claim !== undefined) claimed.push(claim);
      else if (isAwaited) {
        log.error("imported fee belongs to no known Master or payment, manual check required", { login, ticket });
      }
    }
    if (claimed.length === 0) continue;
    await platform.claimImportedFees({ fees: claimed }, callOf());
    log.info("fees of a lost time recorded", { count: claimed.length });
    wakeSignals.payments.notify();
  }
}

function callOf(): CallContext {
  return callContext({ caller: "fee", withinMs: CALL_MS });
}

/** A fee that was executed in the lost time; cents, positive. */
type Executed = Omit<ImportedFee, "amount"> & { readonly amount: bigint };

/** Who a fee was paid by and to that no payment knows. */
type Parties = { readonly masterLogin: string; readonly paymentAccountLogin: string; readonly investorId: bigint };

/** What platform has to know of the payment of a fee. */
type Claimable = Pick<DuePayment, "key" | "paymentAccountLogin" | "due">;

/**
 * Records an imported fee, once, and returns what platform has to know of its payment. It is the payment whose key has its hash; the
 * job settles that one. When none has, the database has lost it, and it becomes a payment of its own: what it has paid is taken from what falls due next. Undefined
 * when nothing says which Master it was paid to, or when one with this hash is recorded already.
 */
async function recordImported(deps: Deps, { amount: debited, ...rest }: ImportedFee): Promise<ClaimedFee | undefined> {
  const fee = { ...rest, amount: moneyFromProto(debited).minor };
  const payment = (await findPayment(deps.pool, fee)) ?? (await recordUnknown(deps, fee));
  if (payment === undefined) return undefined;
  const { key, paymentAccountLogin, due } = payment;
  return { keyHash: fee.keyHash, key, paymentAccountLogin, due: usdToProto(due) };
}

/** The payment that has the debit: since now, or recorded by an earlier run of this step, or by a process that has outlived the database it was debited in. */
async function findPayment(db: Queryable, fee: Executed): Promise<Claimable | undefined> {
  const payments = await listByHash(db, fee.keyHash);
  const recorded = payments.find(({ dealId }) => dealId === fee.debitDealId);
  const own = recorded ?? payments.find((payment) => isPaidBy(payment, fee));
  if (recorded === undefined && own !== undefined) {
    const { amount, transferId, debitDealId } = fee;
    await markDebited(db, [{ id: own.id, outcome: { kind: "debited", amount, transferId, debitDealId } }]);
  }
  return own;
}

/** More than is due, or paid to another account, it is a payment of its own: then all of it is in the books. */
function isPaidBy(payment: DuePayment, { investorLogin, paymentAccountLogin, amount }: Executed): boolean {
  return (
    isWaiting(payment) &&
    payment.investorLogin === investorLogin &&
    payment.paymentAccountLogin === (paymentAccountLogin ?? payment.paymentAccountLogin) &&
    payment.due >= amount
  );
}

function isWaiting({ status, dealId }: DuePayment): boolean {
  return isOpen({ status }) && dealId === null;
}

async function recordUnknown(deps: Deps, fee: Executed): Promise<Claimable | undefined> {
  const parties = await findParties(deps, fee);
  if (parties === undefined) return undefined;
  return await inTransaction(deps.pool, (tx) => insertUnknown(tx, fee, parties, deps.now()));
}

/** In a run of its own. A payment whose key has the hash, and that was not paid by it, is never sent under that key. */
async function insertUnknown(
  tx: Transaction,
  fee: Executed,
  parties: Parties,
  at: Date,
): Promise<Claimable | undefined> {
  const { masterLogin } = parties;
  const { keyHash, investorLogin, amount, transferId, debitDealId: dealId } = fee;
  await lockMaster(tx, masterLogin);
  // Another process may have recorded it, or its payment, meanwhile.
  const recorded = await findPayment(tx, fee);
  if (recorded !== undefined) return recorded;
  const key = `fee:imported:${keyHash}`;
  const payments = await listByHash(tx, keyHash);
  // A dealer has copied the comment of a fee: one hash is one fee.
  if (payments.some((payment) => payment.key === key)) return undefined;
  const waiting = payments.filter(isWaiting);
  const period = { periodStart: new Date(at.getTime() - MIN_PERIOD_MS), periodEnd: at };
  const run = { kind: "ON_DEMAND", masterLogin, key: `imported:${keyHash}`, ...period } as const;
  const runs = await insertRuns(tx, [{ ...run, weeklyKeys: [], isDecided: true }], at);
  const runId = runs.get(run.key);
  assert(runId !== undefined, "a hash has one run");
  const payment = { ...parties, runId, investorLogin, amount, transferId, dealId, key, keyHash };
  await insertImportedPayment(tx, payment, at);
  await addPrepaid(tx, { investorLogin, masterLogin, amountMinor: amount });
  await endCollected(
    tx,
    waiting.map(({ id }) => id),
    at,
  );
  return { ...payment, due: amount };
}

/** The payment account says which Master it was. Without a credit, or a Master of the account, the last subscription of the Investor does. */
async function findParties(
  { accounts: directory, subscriptions, pool }: Deps,
  { investorLogin, paymentAccountLogin: account }: Executed,
): Promise<Parties | undefined> {
  const logins = account === undefined ? [investorLogin] : [investorLogin, account];
  const context = callOf();
  const { accounts } = await directory.findAccounts({ logins }, context);
  const investor = accounts.find(({ kind }) => kind === AccountKind.INVESTOR);
  const payee = accounts.find(({ kind }) => kind === AccountKind.PAYMENT);
  const all = { investorLogin, masterLogin: "", status: ANY_STATUS, afterId: 0n, limit: MAX_PAGE_SIZE };
  const masterId = payee?.id ?? (await subscriptions.listSubscriptions(all, context)).items.at(-1)?.masterId;
  if (masterId === undefined || investor === undefined) return undefined;
  const { login: masterLogin, paymentAccountLogin } = await directory.getMaster({ id: masterId }, context);
  await insertMaster(pool, masterLogin, paymentAccountLogin);
  return { masterLogin, investorId: investor.id, paymentAccountLogin: account ?? paymentAccountLogin };
}
