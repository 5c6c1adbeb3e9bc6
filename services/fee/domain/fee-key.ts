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

const KEY = /^fee:([^:]+):([^:]+):([^:]+)(?::(.+))?$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T/;
const WEEK_SUFFIX = "W";
const DEBT_SUFFIX = "DEBT";
const IMPORTED_SUFFIX = "imported";

export function parseFeeKey(key: string): FeeKey | undefined {
  const [, investorLogin, masterLogin, suffix, rest = ""] = KEY.exec(key) ?? [];
  if (investorLogin === undefined || masterLogin === undefined || suffix === undefined) return undefined;
  return { investorLogin, masterLogin, suffix, rest };
}

/** A fee of a week is recorded again when the week is decided again, under the same key. */
export function isWeekly({ suffix, rest }: FeeKey): boolean {
  return suffix === WEEK_SUFFIX || (suffix === DEBT_SUFFIX && INSTANT.test(rest));
}

/** Whether it is a key under which platform gives an imported fee away. */
export function isTakenOver(key: string): boolean {
  return parseFeeKey(key)?.suffix === IMPORTED_SUFFIX;
}

/** Key under which an imported fee is taken over; platform debits nothing under it. */
export function importedPaymentKey({ investorLogin, masterLogin, keyHash }: ImportedFee): string {
  return `fee:${investorLogin}:${masterLogin}:${IMPORTED_SUFFIX}:${keyHash}`;
}

/** Last part of the unique key of an imported fee. */
export function importedSuffix(keyHash: string): string {
  return `IM${keyHash}`;
}
