import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import {
  ClosingState,
  type GetClosingRequest,
  type GetClosingResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { waitingFees } from "../messages/market-wait.ts";
import { type Closing, findClosing, listRefusals } from "../store/closings.ts";

/** The closing of a Master, if one has begun. */
export async function getClosing(
  deps: Pick<Deps, "pool" | "fees">,
  { masterLogin }: GetClosingRequest,
  context: CallContext,
): Promise<GetClosingResponse> {
  const closing = await findClosing(deps.pool, masterLogin);
  if (closing === undefined) return { closing };
  const { requestedAt, archivedAt, progressedAt, investors, exits } = closing;
  const common = { masterLogin, requestedAt, investorsLeft: investors, exitsInProgress: exits };
  if (archivedAt !== null) {
    const state = ClosingState.ARCHIVED;
    return { closing: { ...common, state, archivedAt, progressedAt: archivedAt, blockedBy: undefined } };
  }
  const blockedBy = await findBlock(deps, closing, context);
  return { closing: { ...common, state: ClosingState.CLOSING, archivedAt: undefined, progressedAt, blockedBy } };
}

async function findBlock(
  { pool, fees }: Pick<Deps, "pool" | "fees">,
  { masterLogin, investors, exits, isStopped, hasOpenPositions, hasOwnCapital }: Closing,
  context: CallContext,
): Promise<string | undefined> {
  if (isStopped) return "safety_stop";
  if (hasOpenPositions) return "master_open_positions";
  if (investors > 0n) return blockOf(await listRefusals(pool, masterLogin));
  if (exits === 0n) return hasOwnCapital ? "own_capital" : undefined;
  try {
    return waitingFees(await fees.getWaitingFees({ masterLogin }, withReplyReserve(context)))[0]?.kind;
  } catch {
    return "unavailable";
  }
}

/** What keeps a Master from being archived, by the code of a refusal. Those of the Master come first: they hold for all of its Investors. */
const BLOCKS: ReadonlyMap<string, string> = new Map([
  ["safety_stop", "safety_stop"],
  ["master_open_positions", "master_open_positions"],
  ["platform_unavailable", "unavailable"],
  ["service_unavailable", "unavailable"],
  ["no answer", "unavailable"],
  ["investor_deficit", "investor_deficit"],
]);

/** What keeps a closing from going on, by the reasons why tries were refused; undefined when it only takes time. */
function blockOf(reasons: readonly string[]): string | undefined {
  const code = [...BLOCKS.keys()].find((known) => reasons.includes(known));
  return code && BLOCKS.get(code);
}
