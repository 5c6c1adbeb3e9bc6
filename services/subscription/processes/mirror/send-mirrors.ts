import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { afterCommit, inTransaction } from "#kernel/postgres/transaction.ts";
import { reasonOf } from "#kernel/retry.ts";
import type { Delay } from "#kernel/work-queue/work-queue.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferAnswer, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { noteArchived } from "../../store/archived-masters.ts";
import { waitForMargin } from "../../store/market-waits.ts";
import { countMirrorRefusal, mirrorQueue, type OpenMirror, refuseMirror } from "../../store/mirrors.ts";
import { tryToCatchUp } from "../filing/catch-up.ts";
import { isForMargin, queuedTransfer, stateText } from "../../messages/transfer.ts";

/** Code of platform: the broker has archived the account. */
const ARCHIVED = "account_archived";

/**
 * Requests mirrors from platform, or reads their outcome: a key is executed once. A mirror counts as applied only when the log
 * of the Master shows it, so that the ledger always matches one log position.
 */
export async function sendMirrors(deps: Deps, mirrors: readonly OpenMirror[], context: CallContext): Promise<void> {
  const answers = await requestMirrors(deps, mirrors, context);
  const waiting: Delay<bigint>[] = [];
  const applied: string[] = [];
  for (const [index, mirror] of mirrors.entries()) {
    const { id, tries, masterLogin } = mirror;
    const answer = answers[index];
    if (answer === ARCHIVED) {
      await keepOnAccounts(deps, mirror);
      continue;
    }
    if (typeof answer === "object" && answer.state === TransferState.REFUSED) {
      await returnFlows(deps, mirror, answer);
      continue;
    }
    const reason = typeof answer === "object" ? stateText(answer) : answer;
    waiting.push({ id, tries, reason });
    if (typeof answer === "object" && answer.state === TransferState.APPLIED) applied.push(masterLogin);
  }
  await mirrorQueue.retryLater(deps.pool, waiting);
  // When the feed is late, the logs have the deals already.
  await Promise.all(applied.map((login) => tryToCatchUp(deps, login, context)));
}

/** Platform has recorded nothing: its inflows stay on the accounts of their Investors, who can withdraw them, until the Master is shown again. */
async function keepOnAccounts({ pool, log, now }: Deps, mirror: OpenMirror): Promise<void> {
  const { key, masterLogin: login } = mirror;
  await inTransaction(pool, async (tx) => {
    await noteArchived(tx, login);
    await refuseMirror(tx, mirror, ARCHIVED, now());
    afterCommit(tx, () => log.info("mirror not sent, its Master is archived, its flows wait", { key, login }));
  });
}

/** The recorded transfer of each mirror, or why it has no answer. */
async function requestMirrors(
  { platform, log }: Deps,
  mirrors: readonly OpenMirror[],
  context: CallContext,
): Promise<(TransferResult | string)[]> {
  try {
    const requests = mirrors.map(({ key, masterLogin: login, amount, filedNumber }) =>
      queuedTransfer({
        key,
        filedNumber,
        leg: { login, kind: MovementKind.MIRROR, amount: moneyToProto(usd(amount)) },
      }),
    );
    const { answers } = await platform.transferBatch({ requests }, context);
    return answers.map(resultOf);
  } catch (error) {
    log.info("mirrors not answered, retry scheduled", { count: mirrors.length, error });
    return mirrors.map(() => reasonOf(error));
  }
}

function resultOf({ answer }: TransferAnswer): TransferResult | string {
  return answer?.$case === "result" ? answer.value : (answer?.value.code ?? "no answer");
}

/**
 * After a final refusal its flows go into the next mirror, with the flows since, after a growing pause. For want of free margin only the
 * outflows wait.
 */
async function returnFlows(deps: Deps, mirror: OpenMirror, result: TransferResult): Promise<void> {
  const { masterLogin, key, amount } = mirror;
  const reason = stateText(result);
  await inTransaction(deps.pool, async (tx) => {
    const wait = amount < 0n && isForMargin(result) ? await waitForMargin(tx, masterLogin, deps.now()) : undefined;
    if (wait === undefined) await countMirrorRefusal(tx, masterLogin, reason);
    await refuseMirror(tx, mirror, reason, deps.now());
    afterCommit(tx, () => {
      const fields = { key, login: masterLogin, reason };
      if (wait === undefined) deps.log.error("mirror refused, its flows go into the next mirror", fields);
      else if (wait.hasBegun) deps.log.info("mirror refused for want of free margin, its outflows wait", fields);
    });
    // Its inflows go at once.
    if (wait !== undefined) afterCommit(tx, deps.wakeSignals.mirrors.notify);
  });
}
