import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { Deps } from "../../deps.ts";

/** What a fee must leave on each account, in cents. Who is unknown has nothing that it must. */
export async function readFloors(
  { subscriptions }: Deps,
  investorLogins: readonly string[],
  context: CallContext,
): Promise<ReadonlyMap<string, bigint>> {
  const { floors } = await subscriptions.getFeeFloors({ investorLogins: [...new Set(investorLogins)] }, context);
  return new Map(floors.map(({ investorLogin, floor }) => [investorLogin, moneyFromProto(floor).minor]));
}
