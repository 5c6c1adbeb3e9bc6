import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { inBatches } from "#kernel/in-batches.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { Deps } from "./deps.ts";
import { refusalOfLock } from "./domain/lock-refusals.ts";

/** The Master, when the trading platform does not show its account any more. Answered from a table of platform. */
export async function findArchivedMaster(
  { platform }: Pick<Deps, "platform">,
  login: string,
  context: CallContext,
): Promise<string | undefined> {
  try {
    const { balances } = await platform.readLogBalances(
      { positions: [{ login, number: 0n }] },
      withReplyReserve(context),
    );
    return balances.some(({ archived }) => archived) ? login : undefined;
  } catch (error) {
    throw error instanceof Refusal ? refusalOfLock(error) : error;
  }
}

/** Those of the Masters that the trading platform does not show: they are archived, or that is not confirmed yet. */
export async function listUnshownMasters(
  { platform }: Pick<Deps, "platform">,
  logins: readonly string[],
  context: CallContext,
): Promise<ReadonlySet<string>> {
  const unshown = new Set<string>();
  for (const page of inBatches(logins, MAX_PAGE_SIZE)) {
    const positions = page.map((login) => ({ login, number: 0n }));
    const { balances } = await platform.readLogBalances({ positions }, context);
    for (const { login, notShown } of balances) if (notShown) unshown.add(login);
  }
  return unshown;
}
