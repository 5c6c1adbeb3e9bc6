import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type { Deps } from "./deps.ts";
import { refusalOfLock } from "./domain/lock-refusals.ts";

/** Whether the trading platform does not show the account of a Master any more. Answered from a table of platform. */
export async function isMasterArchived(
  { platform }: Pick<Deps, "platform">,
  login: string,
  context: CallContext,
): Promise<boolean> {
  try {
    const { balances } = await platform.readLogBalances(
      { positions: [{ login, number: 0n }] },
      withReplyReserve(context),
    );
    return balances.some(({ archived }) => archived);
  } catch (error) {
    throw error instanceof Refusal ? refusalOfLock(error) : error;
  }
}
