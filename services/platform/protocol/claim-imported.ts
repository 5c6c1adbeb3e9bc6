import { keyHash } from "#kernel/values/key-hash.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { importedFeeKey, recordedFeeKey } from "../domain/imported-leg.ts";
import type { Account } from "../store/accounts.ts";
import { claimImportedFees, listFeeTransfers } from "../store/imported-legs.ts";
import { arePermitsGranted } from "../store/permit-gate.ts";
import type { Transfer } from "../store/transfers.ts";
import type { TransferOrder } from "./transfer-order.ts";

type Ordered = { readonly order: TransferOrder };

/**
 * A fee that was executed before the database was restored is the transfer of its order, by the hash of the key in the comments of its deals: it is not
 * debited again, also when `fee` has recorded it under another key. Returns these transfers. In a database that grants no permits no order is recorded, and
 * more of the fee may be imported. The accounts of the debits are locked.
 */
export async function claimImported<Request extends Ordered>(
  tx: Transaction,
  accounts: ReadonlyMap<string, Account>,
  requests: readonly Request[],
): Promise<ReadonlyMap<Request, Transfer>> {
  const fees = requests.flatMap((request) => {
    const { key, legs } = request.order;
    const [debit, credit] = legs;
    if (debit?.kind !== "fee_debit" || credit === undefined) return [];
    if (accounts.get(debit.login)?.hasLostMovements !== true) return [];
    const hash = keyHash(key);
    return { request, key, hash, creditLogin: credit.login, requestedMinor: credit.amountMinor };
  });
  if (fees.length === 0 || !(await arePermitsGranted(tx))) return new Map();
  await claimImportedFees(tx, fees);
  const known = await listFeeTransfers(
    tx,
    fees.map(({ hash }) => hash),
  );
  return new Map(
    fees.flatMap(({ request, hash }) => {
      const transfer = known.find(({ key }) => key === importedFeeKey(hash) || key === recordedFeeKey(hash));
      return transfer === undefined ? [] : [[request, transfer] as const];
    }),
  );
}
