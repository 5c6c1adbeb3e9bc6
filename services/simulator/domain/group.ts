/** A group of accounts, with the currency of their money. */
export type Group = { readonly name: string; readonly currency: string; readonly digits: number };

export const DEFAULT_CURRENCY = "USD";
export const DEFAULT_CURRENCY_DIGITS = 2;
export const MAX_CURRENCY_DIGITS = 8;
const CURRENCY = /^[A-Za-z]{3,15}$/;
/** `name`, or `name=USC/2` for a group in another currency. */
const GROUP = /^([^=]+)(?:=([^/=]+)\/(\d))?$/;

export function isCurrency(text: string): boolean {
  return CURRENCY.test(text);
}

/** Undefined when the text is no group. */
export function parseGroup(text: string): Group | undefined {
  const [, name, currency = DEFAULT_CURRENCY, digits = String(DEFAULT_CURRENCY_DIGITS)] = GROUP.exec(text) ?? [];
  if (name === undefined || !isCurrency(currency) || Number(digits) > MAX_CURRENCY_DIGITS) return undefined;
  return { name, currency, digits: Number(digits) };
}
