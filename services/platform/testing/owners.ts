import { usd } from "#kernel/money.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";
import type { Owners } from "../checks/ownership.ts";
import type { Owner } from "../checks/key-owner.ts";
import type { TradingUse } from "../checks/trading-use.ts";

/** The services that request transfers, with the rows that a test gives them. */
export function ownersFake(rows: Partial<Record<Owner, readonly OwnedLeg[]>> = {}): {
  readonly owners: Owners;
  /** Keys that each was asked for. */
  readonly asked: Record<Owner, string[]>;
} {
  const asked: Record<Owner, string[]> = { fee: [], funding: [], subscription: [] };
  const answerOf =
    (owner: Owner): Owners[Owner] =>
    async ({ keys }) => {
      asked[owner].push(...keys);
      const legs = (rows[owner] ?? []).filter(({ key }) => keys.includes(key));
      return {
        legs: legs.map(({ amountMinor, ...leg }) => ({
          ...leg,
          amount: amountMinor === undefined ? undefined : moneyToProto(usd(amountMinor)),
        })),
      };
    };
  return {
    asked,
    owners: { fee: answerOf("fee"), funding: answerOf("funding"), subscription: answerOf("subscription") },
  };
}

/** The services that know which accounts must not trade, with those that a test gives them. */
export function tradingUseFake(
  use: {
    readonly pooled?: string[];
    readonly joining?: string[];
    readonly inUse?: string[];
    readonly becoming?: string[];
  } = {},
): TradingUse {
  const known = (all: readonly string[] | undefined, logins: readonly string[]) =>
    logins.filter((login) => all?.includes(login) === true);
  return {
    findPooled: async ({ investorLogins }) => ({
      pooled: known(use.pooled, investorLogins),
      joining: known(use.joining, investorLogins),
    }),
    findPaymentAccounts: async ({ logins }) => ({
      inUse: known(use.inUse, logins),
      becoming: known(use.becoming, logins),
    }),
  };
}
