import type { CallContext } from "#kernel/contract/contract.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "../../deps.ts";
import { isOpen } from "../../domain/payment-outcome.ts";
import { type DuePayment, lockOpenPayments, type PaymentState } from "../../store/due-payments.ts";
import { insertImportedPayment, listByHash, waitForImported } from "../../store/imported-payments.ts";
import { lockMaster } from "../../store/masters.ts";
import { insertRuns } from "../../store/runs.ts";
import { transferOf } from "../../messages/fee-transfer.ts";

/** Code of platform: it has an imported fee of the Investor that no payment has claimed, and sends no other one before. */
const UNCLAIMED = "imported_fee";
/** The period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

/** A fee that platform has imported: the hash of its key, and cents, positive. */
export type Unclaimed = { readonly keyHash: string; readonly amount: bigint };

type Answer = { readonly code: string; readonly details: Readonly<Record<string, string>> };

/** The imported fee because of which platform did not record a payment. */
export function unclaimedOf({ code, details }: Answer): Unclaimed | undefined {
  const { key_hash: keyHash = "", amount_minor: minor = "" } = details;
  if (code !== UNCLAIMED || keyHash === "" || !/^\d+$/.test(minor)) return undefined;
  return { keyHash, amount: BigInt(minor) };
}

/**
 * Gives an imported fee to the payment that collected it. When none did, the database has lost it, and it becomes a payment of its own:
 * the payment that platform has refused waits until that one is settled, and is reduced by what was paid.
 */
export async function takeOver(
  deps: Deps,
  refused: DuePayment,
  unclaimed: Unclaimed,
  context: CallContext,
): Promise<void> {
  const owner = await inTransaction(deps.pool, (tx) => adopt(tx, deps, refused, unclaimed));
  if (owner === undefined) return;
  // It was debited before, so platform debits nothing under its key.
  try {
    await deps.platform.transfer(transferOf(owner), context);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    deps.log.info("imported fee not claimed, retry scheduled", { key: owner.key, reason: error.code });
  }
}

/** The payment that has collected the fee; undefined when a payment of the imported fee has to be settled. */
async function adopt(
  tx: Transaction,
  { now, log, wakeSignals }: Deps,
  refused: DuePayment,
  { keyHash, amount }: Unclaimed,
): Promise<PaymentState | undefined> {
  const { masterLogin, investorLogin } = refused;
  await lockMaster(tx, masterLogin);
  const [open] = await lockOpenPayments(tx, [refused.id]);
  if (open === undefined || open.isWaiting) return undefined;
  const known = await listByHash(tx, keyHash);
  const imported = known.find(({ isImported }) => isImported);
  if (imported !== undefined) {
    if (isOpen(imported)) await waitForImported(tx, [refused.id], imported.id);
    return undefined;
  }
  const owner = known.find((each) => each.investorLogin === investorLogin);
  if (owner !== undefined && (owner.status === "EXECUTED" || (isOpen(owner) && owner.due >= amount))) return owner;
  if (owner !== undefined && !isOpen(owner)) {
    log.error("imported fee belongs to a payment that was not collected, manual check required", { key: owner.key });
    return undefined;
  }
  const id = await insertImported(tx, refused, { keyHash, amount }, now());
  await waitForImported(tx, [refused.id, ...(owner === undefined ? [] : [owner.id])], id);
  afterCommit(tx, () => {
    log.info("imported fee found, it is taken from the fees that are due", { login: investorLogin, key: refused.key });
    wakeSignals.payments.notify();
  });
  return undefined;
}

/** It is a payment to the Master of the fee that is due now, in a run of its own. */
async function insertImported(
  tx: Transaction,
  { masterLogin, paymentAccountLogin, investorLogin, investorId }: DuePayment,
  { keyHash, amount }: Unclaimed,
  at: Date,
): Promise<bigint> {
  const period = { periodStart: new Date(at.getTime() - MIN_PERIOD_MS), periodEnd: at, markedAt: undefined };
  const key = `imported:${keyHash}`;
  const run = { kind: "ON_DEMAND", masterLogin, key, ...period, payments: 1, isDecided: true } as const;
  const [runId = 0n] = await insertRuns(tx, [run], at);
  const fee = { investorLogin, masterLogin, keyHash, investorId, paymentAccountLogin, amount, runId };
  return await insertImportedPayment(tx, fee, at);
}
