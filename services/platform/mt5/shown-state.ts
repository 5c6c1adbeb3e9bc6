import { fieldsOf, requireLogin } from "./fields.ts";
import { findDone, type Reader } from "./reader.ts";

export type ShownState = {
  readonly login: string;
  readonly balanceMinor: bigint;
  readonly creditMinor: bigint;
  /** Balance, credit and the floating profit and swap of open positions. */
  readonly equityMinor: bigint;
  readonly marginMinor: bigint;
  readonly freeMarginMinor: bigint;
  /** Swap and profit of open positions. */
  readonly floatingMinor: bigint;
};

/** The state of an active account; undefined when the platform has none. */
export async function findState(read: Reader, login: string): Promise<ShownState | undefined> {
  const found = findDone(await read({ method: "GET", path: "user/account/get", query: { login } }));
  if (found === undefined) return undefined;
  const fields = fieldsOf(found.answer);
  requireLogin(fields, login);
  return {
    login,
    balanceMinor: fields.minor("Balance"),
    creditMinor: fields.minor("Credit", 0n),
    equityMinor: fields.shownMinor("Equity"),
    marginMinor: fields.shownMinor("Margin"),
    freeMarginMinor: fields.shownMinor("MarginFree"),
    floatingMinor: fields.shownMinor("Floating"),
  };
}
