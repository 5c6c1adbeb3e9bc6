import type { CallContext, Client } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";

export type Floors = Pick<Client<SubscriptionServiceService>, "getFeeFloors">;

/** The amount in cents that a fee must leave on each account; logins without a floor are left out. */
export async function readFloors(
  subscriptions: Floors,
  investorLogins: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, bigint>> {
  const { floors } = await subscriptions.getFeeFloors({ investorLogins: [...new Set(investorLogins)] }, context);
  return new Map(floors.map(({ investorLogin, floor }) => [investorLogin, moneyFromProto(floor).minor]));
}
