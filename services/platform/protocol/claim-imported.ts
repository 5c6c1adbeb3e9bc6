import { keyHash } from "#kernel/values/key-hash.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { importedFeeKey, recordedFeeKey } from "../domain/imported-leg.ts";
import type { Account } from "../store/accounts.ts";
import { claimImportedFees } from "../store/imported-legs.ts";
import type { RecordedLeg } from "../store/leg-row.ts";
import { listLegsByKey } from "../store/legs.ts";
import type { NewOrder } from "./insert-orders.ts";

/**
 * A fee that was executed before the database was restored is the transfer of its order, by the hash of the key in the comments of its deals: it is not
 * debited again, also when `fee` has recorded it under another key. Returns the legs of these transfers. Only in a database that grants permits: before, more of the fee may
 * be imported. The accounts of the debits are locked.
 */
export async function claimImported<Request extends NewOrder>(
  tx: Transaction,
  accounts: ReadonlyMap<string, Account>,
  requests: readonly Request[],
): Promise<ReadonlyMap<Request, readonly RecordedLeg[]>> {
  const fees = requests.flatMap((request) => {
    const { key, legs } = request.order;
    const [debit, credit] = legs;
    if (debit.kind !== "fee_debit" || credit === undefined) return [];
    if (accounts.get(debit.login)?.lost === undefined) return [];
    const hash = keyHash(key);
    return { request, key, hash, creditLogin: credit.login, requestedMinor: credit.amountMinor };
  });
  if (fees.length === 0) return new Map();
  await claimImportedFees(tx, fees);
  const known = await listLegsByKey(
    tx,
    fees.flatMap(({ hash }) => [importedFeeKey(hash), recordedFeeKey(hash)]),
  );
  return new Map(
    fees.flatMap(({ request, hash }) => {
      const found = [known.get(importedFeeKey(hash)), known.get(recordedFeeKey(hash))];
      // Without the debit, only its credit was imported until now.
      const legs = found.find((each) => each?.[0]?.ordinal === 1);
      return legs === undefined ? [] : [[request, legs] as const];
    }),
  );
}
