/** Last part of the unique key of every collected debt. */
export const DEBT_SUFFIX = "DEBT";

type KeyedRun = { readonly kind: "WEEKLY" | "ON_DEMAND"; readonly key: string | undefined; readonly periodEnd: Date };

type KeyedPayment = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  /** W, WD<operation id>, UA<subscription id>, IM<hash of the key> or DEBT. */
  readonly suffix: string;
};

/**
 * Key of the transfer of a payment. It has what the fee is for and no number of a row: a week that is planned again, after a database
 * was restored, has the same keys, so platform answers with what was executed.
 */
export function paymentKey(run: KeyedRun, { investorLogin, masterLogin, suffix }: KeyedPayment): string {
  const owner = `fee:${investorLogin}:${masterLogin}:${suffix}`;
  if (run.kind === "WEEKLY") return `${owner}:${run.periodEnd.toISOString()}`;
  return suffix === DEBT_SUFFIX ? `${owner}:${run.key}` : owner;
}

/** Key under which an imported fee is taken over; platform debits nothing under it. */
export function importedPaymentKey({ investorLogin, masterLogin, keyHash }: ImportedFee): string {
  return `fee:${investorLogin}:${masterLogin}:imported:${keyHash}`;
}

/** A fee that was collected before the database was restored, by the hash of its key. */
export type ImportedFee = { readonly investorLogin: string; readonly masterLogin: string; readonly keyHash: string };

/** Last part of the unique key of an imported fee. */
export function importedSuffix(keyHash: string): string {
  return `IM${keyHash}`;
}
