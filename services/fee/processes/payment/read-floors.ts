import type { CallContext, Client } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";

export type Floors = Pick<Client<SubscriptionServiceService>, "getFeeFloors">;

/** What a fee must leave on the account of an Investor, as of an entry of its log, and what was credited later. */
export type FeeFloor = { readonly minor: bigint; readonly filedNumber: bigint };

/** Logins without a floor are left out. */
export async function readFloors(
  subscriptions: Floors,
  investorLogins: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, FeeFloor>> {
  const { floors } = await subscriptions.getFeeFloors({ investorLogins: [...new Set(investorLogins)] }, context);
  return new Map(
    floors.map(({ investorLogin, floor, filedNumber }) => [
      investorLogin,
      { minor: moneyFromProto(floor).minor, filedNumber },
    ]),
  );
}
