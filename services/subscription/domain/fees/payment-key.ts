/** Last part of the unique key of every fee of a closed week, and of every collected debt. */
export const WEEK_SUFFIX = "W";
export const DEBT_SUFFIX = "DEBT";

/** What a fee is decided for: the week that ends at a cut-off, or a withdrawal or exit under its key. */
export type Occasion =
  | { readonly cutOff: Date; readonly key?: undefined }
  | { readonly key: string; readonly cutOff?: undefined };

type KeyedFee = {
  readonly investorLogin: string;
  readonly masterLogin: string;
  /** W, WD<operation id>, UA<subscription id> or DEBT. */
  readonly suffix: string;
};

/**
 * Key of the transfer that collects a fee. It has what the fee is for and no number of a row: a week that is decided again, after a database
 * was restored, has the same keys, so platform answers with what was executed.
 */
export function paymentKey(occasion: Occasion, { investorLogin, masterLogin, suffix }: KeyedFee): string {
  const owner = `fee:${investorLogin}:${masterLogin}:${suffix}`;
  if (occasion.cutOff !== undefined) return `${owner}:${occasion.cutOff.toISOString()}`;
  return suffix === DEBT_SUFFIX ? `${owner}:${occasion.key}` : owner;
}
