import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { reasonOf } from "#kernel/retry.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { countMirrorRefusal, mirrorQueue, type OpenMirror, refuseMirror } from "../../store/mirrors.ts";
import { catchUp } from "../filing/catch-up.ts";
import { queuedTransfer, stateText } from "../../messages/transfer.ts";

/**
 * Requests a mirror from platform, or reads its outcome: a key is executed once. The mirror counts as applied only when the
 * log of the Master shows it, so that the ledger always matches one log position.
 */
export async function sendMirror(deps: Deps, mirror: OpenMirror, context: CallContext): Promise<void> {
  const { platform, pool, log } = deps;
  const { id, key, masterLogin: login, amount, tries } = mirror;
  try {
    const leg = { login, kind: MovementKind.MIRROR, amount: moneyToProto(usd(amount)) };
    const result = await platform.transfer(queuedTransfer(key, leg), context);
    if (result.state === TransferState.REFUSED) return await returnFlows(deps, mirror, result);
    await mirrorQueue.retryLater(pool, [{ id, tries, reason: stateText(result) }]);
    if (result.state === TransferState.APPLIED) await catchUp(deps, { login }, context);
  } catch (error) {
    log.info("mirror not answered, retry scheduled", { key, login, attempt: tries, error });
    await mirrorQueue.retryLater(pool, [{ id, tries, reason: reasonOf(error) }]);
  }
}

/** After a final refusal its flows go into the next mirror, with the flows since, after a growing pause. */
async function returnFlows(deps: Deps, mirror: OpenMirror, result: TransferResult): Promise<void> {
  const { masterLogin, key } = mirror;
  const reason = stateText(result);
  deps.log.error("mirror refused, its flows go into the next mirror", { key, login: masterLogin, reason });
  await inTransaction(deps.pool, async (tx) => {
    await countMirrorRefusal(tx, masterLogin, reason);
    await refuseMirror(tx, mirror, reason, deps.now());
  });
}
