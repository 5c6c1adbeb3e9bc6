import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { AccountKind } from "#proto/pamm/account/v1/account.ts";
import type { ClaimedFee, ImportedFee } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../../deps.ts";
import { isOpen } from "../../domain/payment-outcome.ts";
import { addPrepaid } from "../../store/debts.ts";
import { insertImportedPayment, listByHash, type PaymentOfHash } from "../../store/imported-payments.ts";
import { insertMaster, lockMaster } from "../../store/masters.ts";
import { insertRuns } from "../../store/runs.ts";
import { markDebited } from "../../store/settled-payments.ts";
import { endCollected } from "../payment/settle-payments.ts";

/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;
const ANY_STATUS = SubscriptionStatus.UNSPECIFIED;

/** A fee that was executed in the lost time; cents, positive. */
type Executed = Omit<ImportedFee, "amount"> & { readonly amount: bigint };

/** Who a fee was paid by and to that no payment knows. */
type Parties = { readonly masterLogin: string; readonly paymentAccountLogin: string; readonly investorId: bigint };

/**
 * Records an imported fee, once, and returns what platform has to know of its payment. It is the payment whose key has its hash; the
 * job settles that one. When none has, the database has lost it, and it becomes a payment of its own: what it has paid is taken from what falls due next. Undefined
 * when nothing says which Master it was paid to, or when one with this hash is recorded already.
 */
export async function recordImported(
  deps: Deps,
  { amount: debited, ...rest }: ImportedFee,
  context: CallContext,
): Promise<ClaimedFee | undefined> {
  const fee = { ...rest, amount: moneyFromProto(debited).minor };
  const payment = (await findPayment(deps.pool, fee)) ?? (await recordUnknown(deps, fee, context));
  if (payment === undefined) return undefined;
  const { key, paymentAccountLogin, due } = payment;
  return { keyHash: fee.keyHash, key, paymentAccountLogin, due: moneyToProto(usd(due)) };
}

/** The payment that has the debit: since now, or recorded by an earlier run of this step, or by a process that has outlived the database it was debited in. */
async function findPayment(db: Queryable, fee: Executed): Promise<PaymentOfHash | undefined> {
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
function isPaidBy(payment: PaymentOfHash, { investorLogin, paymentAccountLogin, amount }: Executed): boolean {
  return (
    isWaiting(payment) &&
    payment.investorLogin === investorLogin &&
    payment.paymentAccountLogin === (paymentAccountLogin ?? payment.paymentAccountLogin) &&
    payment.due >= amount
  );
}

function isWaiting({ status, dealId }: PaymentOfHash): boolean {
  return isOpen({ status }) && dealId === null;
}

async function recordUnknown(deps: Deps, fee: Executed, context: CallContext): Promise<PaymentOfHash | undefined> {
  const parties = await findParties(deps, fee, context);
  if (parties === undefined) return undefined;
  return await inTransaction(deps.pool, (tx) => insertUnknown(tx, fee, parties, deps.now()));
}

/** In a run of its own. A payment whose key has the hash, and that was not paid by it, is never sent under that key. */
async function insertUnknown(
  tx: Transaction,
  fee: Executed,
  parties: Parties,
  at: Date,
): Promise<PaymentOfHash | undefined> {
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
  const period = { periodStart: new Date(at.getTime() - MIN_PERIOD_MS), periodEnd: at, markedAt: undefined };
  const run = { kind: "ON_DEMAND", masterLogin, key: `imported:${keyHash}`, ...period } as const;
  const [runId = 0n] = await insertRuns(tx, [{ ...run, payments: 1, isDecided: true }], at);
  const payment = { ...parties, runId, investorLogin, amount, transferId, dealId, key, keyHash };
  await insertImportedPayment(tx, payment, at);
  await addPrepaid(tx, { investorLogin, masterLogin, amount });
  await endCollected(
    tx,
    waiting.map(({ id }) => id),
    at,
  );
  return { ...payment, id: 0n, due: amount, status: "EXECUTING" };
}

/** The payment account says which Master it was. Without a credit, or a Master of the account, the last subscription of the Investor does. */
async function findParties(
  { accounts: directory, subscriptions, pool }: Deps,
  { investorLogin, paymentAccountLogin: account }: Executed,
  context: CallContext,
): Promise<Parties | undefined> {
  const logins = account === undefined ? [investorLogin] : [investorLogin, account];
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
