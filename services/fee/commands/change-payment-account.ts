import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ChangePaymentAccountRequest, ChangePaymentAccountResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { safetyStop } from "../domain/safety-stop.ts";
import { refuse } from "../refusals.ts";
import {
  insertMaster,
  listMastersOfAccounts,
  lockMaster,
  countFeesInProgress,
  setPaymentAccount,
} from "../store/masters.ts";

/**
 * Changes the account that fees of a Master are paid to. Each decision about its fees, or about debts to it, locks the same row, and each payment keeps the account of
 * its decision: so no fee is decided for the one account and sent to the other. Safe to repeat.
 */
export async function changePaymentAccount(
  deps: Deps,
  { masterLogin, from, to }: ChangePaymentAccountRequest,
): Promise<ChangePaymentAccountResponse> {
  if (masterLogin === "" || from === "" || to === "") {
    throw refuse("validation_failed", "A change of the payment account requires three logins.", {
      outcome: "not_executed",
    });
  }
  await inTransaction(deps.pool, async (tx) => {
    // A Master whose fees were never recorded; otherwise the first decision would read the account from the directory, before or after its change.
    await insertMaster(tx, masterLogin, from);
    const master = await lockMaster(tx, masterLogin);
    if (master.paymentAccountLogin === to) return;
    if (master.breakReason !== undefined) throw safetyStop(masterLogin);
    await checkFree(tx, masterLogin, to);
    await checkNothingInProgress(tx, masterLogin);
    await setPaymentAccount(tx, masterLogin, to);
  });
  return {};
}

async function checkFree(tx: Transaction, masterLogin: string, account: string): Promise<void> {
  if ((await listMastersOfAccounts(tx, [account])).every(({ login }) => login === masterLogin)) return;
  throw refuse("payment_account_in_use", `Payment account ${account} is already assigned to another Master.`, {
    outcome: "not_executed",
  });
}

async function checkNothingInProgress(tx: Transaction, masterLogin: string): Promise<void> {
  const { payments, runs } = await countFeesInProgress(tx, masterLogin);
  if (payments === 0n && runs === 0n) return;
  const message = `Performance fees of Master ${masterLogin} are being collected: ${payments}. Retry when they are paid.`;
  throw refuse("fees_in_progress", message, {
    details: { open_payments: String(payments) },
    outcome: "not_executed",
  });
}
