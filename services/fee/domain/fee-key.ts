import { DEBT_SUFFIX } from "./payment-key.ts";

/** What a key of a payment has. */
export type FeeKey = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  readonly suffix: string;
  /** Of a week or a debt; empty when the suffix says it all. */
  readonly rest: string;
};

/** The leave that a fee was collected for: by its key, or by the Investor and the suffix of the fee. */
export type LeaveName = { readonly key: string; readonly investorLogin: string; readonly feeSuffix: string };

const KEY = /^fee:([^:]+):([^:]+):([^:]+)(?::(.+))?$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T/;
const WEEK_SUFFIX = "W";
const IMPORTED_SUFFIX = "imported";

export function parseFeeKey(key: string): FeeKey | undefined {
  const [, investorLogin, masterLogin, suffix, rest = ""] = KEY.exec(key) ?? [];
  if (investorLogin === undefined || masterLogin === undefined || suffix === undefined) return undefined;
  return { investorLogin, masterLogin, suffix, rest };
}

/** A fee of a week is planned again with the week, under the same key. */
export function isWeekly({ suffix, rest }: FeeKey): boolean {
  return suffix === WEEK_SUFFIX || (suffix === DEBT_SUFFIX && INSTANT.test(rest));
}

/** Whether it is a key under which platform gives an imported fee away. */
export function isTakenOver(key: string): boolean {
  return parseFeeKey(key)?.suffix === IMPORTED_SUFFIX;
}

/** Undefined for the fee of a week, and for one that was taken over. */
export function leaveOf(fee: FeeKey): LeaveName | undefined {
  const { investorLogin, suffix, rest } = fee;
  if (isWeekly(fee) || suffix === IMPORTED_SUFFIX) return undefined;
  if (suffix === DEBT_SUFFIX) return { key: rest, investorLogin: "", feeSuffix: "" };
  return { key: "", investorLogin, feeSuffix: rest === "" ? suffix : `${suffix}:${rest}` };
}
