import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { Deps } from "../deps.ts";
import type { MarketWait } from "../store/market-waits.ts";

/** The fees of a Master that wait for its payment account, which the broker has archived; empty without any. */
export async function readWaitingFees(
  { fees }: Pick<Deps, "fees">,
  masterLogin: string,
  context: CallContext,
): Promise<MarketWait[]> {
  const { amount, since, paymentAccountLogin } = await fees.getWaitingFees({ masterLogin }, context);
  if (amount === undefined || since === undefined) return [];
  return [{ kind: "payment_account_archived", amount: moneyFromProto(amount).minor, since, paymentAccountLogin }];
}
