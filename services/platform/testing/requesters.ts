import { usd } from "#kernel/values/money.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import type { OwnedLeg } from "#kernel/reconcile/find-transfers.ts";
import type { Requesters } from "../checks/ownership.ts";
import type { Requester } from "../checks/requester.ts";
import type { TradingUse } from "../checks/trading-use.ts";

/** The services that request transfers, with the rows that a test gives them. */
export function requestersFake(rows: Partial<Record<Requester, readonly OwnedLeg[]>> = {}): {
  readonly requesters: Requesters;
  /** Keys that each was asked for. */
  readonly asked: Record<Requester, string[]>;
} {
  const asked: Record<Requester, string[]> = { fee: [], funding: [], subscription: [] };
  const answerOf =
    (requester: Requester): Requesters[Requester] =>
    async ({ keys }) => {
      asked[requester].push(...keys);
      const legs = (rows[requester] ?? []).filter(({ key }) => keys.includes(key));
      return {
        legs: legs.map(({ amountMinor, ...leg }) => ({
          ...leg,
          amount: amountMinor === undefined ? undefined : moneyToProto(usd(amountMinor)),
        })),
      };
    };
  return {
    asked,
    requesters: { fee: answerOf("fee"), funding: answerOf("funding"), subscription: answerOf("subscription") },
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
