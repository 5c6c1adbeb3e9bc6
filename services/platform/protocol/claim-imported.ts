import { keyHash } from "#kernel/key-hash.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { importedFeeKey } from "../domain/imported-leg.ts";
import { releaseLock } from "../store/account-locks.ts";
import type { Account } from "../store/accounts.ts";
import { claimImportedFee, lockImportedFee } from "../store/imported-legs.ts";
import type { TransferOrder } from "./transfer-order.ts";

type Claim = { readonly order: TransferOrder; readonly requestId: string };

/**
 * Gives imported fees to the requests that planned them again, by the hash of the key in the comments of their deals: a fee that was
 * executed before the database was restored is not debited again. The accounts of the debits are locked. Returns the requests whose
 * transfers are recorded now.
 */
export async function claimImported<Request extends Claim>(
  tx: Transaction,
  accounts: ReadonlyMap<string, Account>,
  requests: readonly Request[],
): Promise<ReadonlySet<Request>> {
  const claimed = new Set<Request>();
  for (const request of requests) {
    const [debit] = request.order.legs;
    if (debit?.kind !== "fee_debit" || accounts.get(debit.login)?.hasLostMovements !== true) continue;
    if (await claim(tx, request)) claimed.add(request);
  }
  return claimed;
}

async function claim(tx: Transaction, { order, requestId }: Claim): Promise<boolean> {
  const [debit, credit] = order.legs;
  if (debit === undefined || credit === undefined) return false;
  const imported = await lockImportedFee(tx, importedFeeKey(keyHash(order.key)));
  if (imported === undefined || imported.login !== debit.login) return false;
  const { key, lockOwner, releasesLock } = order;
  const { transferId, debitMinor, hasCredit } = imported;
  const requestedMinor = debitMinor < debit.amountMinor ? debitMinor : debit.amountMinor;
  const fee = { transferId, key, lockOwner, releasesLock, requestId, requestedMinor, debitMinor, hasCredit };
  await claimImportedFee(tx, { ...fee, creditLogin: credit.login });
  if (releasesLock) await releaseLock(tx, { login: debit.login, lockOwner });
  return true;
}
