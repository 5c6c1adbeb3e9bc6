/** What a key of a payment has. */
export type FeeKey = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  readonly suffix: string;
  /** Of a week or a debt; empty when the suffix says it all. */
  readonly rest: string;
};

/** A fee that was collected before the database was restored, by the hash of its key. */
export type ImportedFee = Pick<FeeKey, "investorLogin" | "masterLogin"> & { readonly keyHash: string };

const IMPORTED_SUFFIX = "imported";

/** Key under which an imported fee is taken over; platform debits nothing under it. */
export function importedPaymentKey({ investorLogin, masterLogin, keyHash }: ImportedFee): string {
  return `fee:${investorLogin}:${masterLogin}:${IMPORTED_SUFFIX}:${keyHash}`;
}

/** Last part of the unique key of an imported fee. */
export function importedSuffix(keyHash: string): string {
  return `IM${keyHash}`;
}
