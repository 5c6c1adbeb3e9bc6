import { callContext } from "#kernel/contract/context.ts";
import { keyHash } from "#kernel/key-hash.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { type FeeKey, isWeekly, parseFeeKey } from "../../domain/fee-key.ts";
import { isOpen, type PaymentOutcome } from "../../domain/payment-outcome.ts";
import { findConfiguration } from "../../store/configurations.ts";
import type { PaymentState } from "../../store/due-payments.ts";
import { insertImportedPayment, findByKey } from "../../store/imported-payments.ts";
import { insertMaster, lockMaster } from "../../store/masters.ts";
import { insertRuns } from "../../store/runs.ts";
import { outcomeOf } from "../payment/payment-transfer.ts";
import { recordOutcomes } from "../payment/record-outcomes.ts";
import { stopForBreak } from "../stop-for-break.ts";
import { requireKnownFees } from "./require-known-fees.ts";

const WITHIN_MS = 3_000;
/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

/**
 * Records what platform has executed for a payment. A fee that no decision comes to again, and that was debited, becomes a payment of its
 * own, and what it had paid is taken from the next fees of the Investor and Master.
 */
export async function settleFound(deps: Deps, transfer: TransferResult): Promise<void> {
  const fee = parseFeeKey(transfer.key);
  if (fee === undefined) return;
  const planned = await inTransaction(deps.pool, (tx) => findByKey(tx, transfer.key));
  const payment = planned ?? (isWeekly(fee) ? undefined : await importFee(deps, fee, transfer));
  if (payment === undefined || !isOpen(payment) || payment.isDebited) return;
  const outcome = outcomeOf(payment, transfer);
  if (takes(outcome) > payment.due) return await stop(deps, fee, transfer, "more was collected than is due now");
  const settled = await recordOutcomes(deps, [{ payment, outcome }]);
  const isFinal = outcome.kind === "paid" || outcome.kind === "unpaid";
  if (isFinal && !settled.has(payment.id)) throw new Error(`outcome of ${transfer.key} is not recorded yet`);
}

function takes(outcome: PaymentOutcome): bigint {
  return outcome.kind === "paid" || outcome.kind === "debited" ? outcome.amount : 0n;
}

/** Undefined when nothing was debited. A debit that may still be executed stops the Master: only operators know when it is over. */
async function importFee(deps: Deps, fee: FeeKey, transfer: TransferResult): Promise<PaymentState | undefined> {
  const [debit, credit] = transfer.legs;
  if (debit === undefined || credit === undefined) return undefined;
  const { pool, accounts, now } = deps;
  const { investorLogin, masterLogin } = fee;
  const outcome = outcomeOf({ kind: "PF" }, transfer);
  if (outcome.kind === "unpaid") return undefined;
  await insertMaster(pool, masterLogin, credit.login);
  if (outcome.kind === "open") {
    await stop(deps, fee, transfer, "a fee that the database has lost may still be debited");
    return undefined;
  }
  const known = await findConfiguration(pool, investorLogin);
  const investorId =
    known?.investorId ??
    (await accounts.findInvestor({ login: investorLogin }, callContext({ caller: "fee", withinMs: WITHIN_MS }))).id;
  const { key } = transfer;
  return await inTransaction(pool, async (tx) => {
    await requireKnownFees(tx, deps);
    await lockMaster(tx, masterLogin);
    const { amount } = outcome;
    const found = { investorLogin, masterLogin, investorId, paymentAccountLogin: credit.login, key, amount };
    return (await findByKey(tx, key)) ?? (await insertFound(tx, found, now()));
  });
}

type FoundFee = Pick<FeeKey, "investorLogin" | "masterLogin"> & {
  readonly investorId: bigint;
  readonly paymentAccountLogin: string;
  readonly key: string;
  readonly amount: bigint;
};

async function insertFound(tx: Transaction, found: FoundFee, at: Date): Promise<PaymentState | undefined> {
  const { masterLogin, key } = found;
  const hash = keyHash(key);
  const period = { periodStart: new Date(at.getTime() - MIN_PERIOD_MS), periodEnd: at, markedAt: undefined };
  const run = {
    kind: "ON_DEMAND",
    masterLogin,
    key: `imported:${hash}`,
    ...period,
    payments: 1,
    isDecided: true,
  } as const;
  const [runId = 0n] = await insertRuns(tx, [run], at);
  await insertImportedPayment(tx, { ...found, keyHash: hash, runId }, at);
  return await findByKey(tx, key);
}

async function stop(deps: Deps, fee: FeeKey, transfer: TransferResult, reason: string): Promise<void> {
  const { investorLogin, masterLogin } = fee;
  const deals = transfer.legs.flatMap(({ dealId }) => (dealId > 0n ? [dealId] : []));
  const { key } = transfer;
  await inTransaction(deps.pool, async (tx) => {
    await requireKnownFees(tx, deps);
    const seen = {
      reason,
      account: investorLogin,
      atRisk: undefined,
      dealIds: deals,
      operationIds: [],
      compared: { key },
    };
    await stopForBreak(tx, deps, masterLogin, seen);
  });
}
