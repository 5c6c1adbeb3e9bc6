import { keyHash } from "#kernel/key-hash.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { hashOfImportedFee, importedFeeKey, takenOverHash } from "../domain/imported-leg.ts";
import { refuse } from "../refusals.ts";
import { releaseLock } from "../store/account-locks.ts";
import type { Account } from "../store/accounts.ts";
import { claimImportedFee, findUnclaimedFee, lockImportedFee } from "../store/imported-legs.ts";
import { listTransfers } from "../store/transfers.ts";
import type { OrderedLeg, TransferOrder } from "./transfer-order.ts";

type Claim = { readonly order: TransferOrder; readonly requestId: string };

/** The order's transfer is recorded now, or nothing may be recorded. */
type Claimed = "claimed" | Refusal;

/**
 * Gives imported fees to the requests that planned them again, by the hash of the key in the comments of their deals: a fee that was
 * executed before the database was restored is not debited again. While an imported fee of the Investor is not claimed, no other fee is
 * debited for the same payment account: it may be for the same profit, and only the caller knows. The accounts of the debits are locked.
 */
export async function claimImported<Request extends Claim>(
  tx: Transaction,
  accounts: ReadonlyMap<string, Account>,
  requests: readonly Request[],
): Promise<ReadonlyMap<Request, Claimed>> {
  const decided = new Map<Request, Claimed>();
  for (const request of requests) {
    const [debit, credit] = request.order.legs;
    if (debit?.kind !== "fee_debit" || credit === undefined) continue;
    const hasLost = accounts.get(debit.login)?.hasLostMovements === true;
    if (!hasLost && takenOverHash(request.order.key) === undefined) continue;
    const answer = await claim(tx, request, debit, credit);
    if (answer !== undefined) decided.set(request, answer);
  }
  return decided;
}

async function claim(
  tx: Transaction,
  { order, requestId }: Claim,
  debit: OrderedLeg,
  credit: OrderedLeg,
): Promise<Claimed | undefined> {
  const { key, lockOwner, releasesLock } = order;
  const takenOver = takenOverHash(key);
  const imported = await lockImportedFee(tx, importedFeeKey(takenOver ?? keyHash(key)));
  if (imported === undefined || imported.login !== debit.login) {
    if ((await listTransfers(tx, [key])).has(key)) return undefined;
    return takenOver === undefined ? await findObstacle(tx, debit, credit) : notFound(takenOver);
  }
  const { transferId, debitMinor, hasCredit } = imported;
  const isMore = debitMinor < debit.amountMinor;
  // More was collected than is requested now: the caller takes the fee over, and keeps the rest for the next one.
  if (isMore && takenOver === undefined) return unclaimedFee(keyHash(key), debitMinor);
  const requestedMinor = takenOver === undefined ? debit.amountMinor : debitMinor;
  const fee = { transferId, key, lockOwner, releasesLock, requestId, requestedMinor, debitMinor, hasCredit };
  await claimImportedFee(tx, { ...fee, creditLogin: credit.login });
  if (releasesLock) await releaseLock(tx, { login: debit.login, lockOwner });
  return "claimed";
}

async function findObstacle(tx: Transaction, debit: OrderedLeg, credit: OrderedLeg): Promise<Refusal | undefined> {
  const unclaimed = await findUnclaimedFee(tx, debit.login, credit.login);
  const hash = unclaimed && hashOfImportedFee(unclaimed.key);
  return hash === undefined || unclaimed === undefined ? undefined : unclaimedFee(hash, unclaimed.debitMinor);
}

function unclaimedFee(hash: string, debitMinor: bigint): Refusal {
  return refuse(
    "imported_fee",
    "A fee of this Investor was collected before the database was restored to an older time. It has to be claimed first.",
    { outcome: "not_executed", details: { key_hash: hash, amount_minor: String(-debitMinor) } },
  );
}

function notFound(hash: string): Refusal {
  return refuse("imported_fee_not_found", "No imported fee of this Investor has this hash, or it is claimed.", {
    outcome: "not_executed",
    details: { key_hash: hash },
  });
}
