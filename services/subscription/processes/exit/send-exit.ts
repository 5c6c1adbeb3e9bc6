import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { afterCommit, inTransaction } from "#kernel/postgres/transaction.ts";
import { reasonOf } from "#kernel/jobs/retry.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import {
  type ExitTransfer,
  exitTransferQueue,
  findFirstExitTransfer,
  insertExitTransfers,
  listExitsToSettle,
  listImportedExits,
  markExitSent,
  markExitsSettled,
  type NewExitTransfer,
  replaceExit,
} from "../../store/exit-transfers.ts";
import { changeHoldings } from "../../store/holdings.ts";
import { cancelEmptied } from "../../store/subscriptions.ts";
import { publishExitsCompleted } from "../../messages/capital-events.ts";
import { waitForMargin } from "../../store/market-waits.ts";
import { isForMargin, queuedTransfer, stateText } from "../../messages/transfer.ts";
import assert from "node:assert/strict";
import type { Departure } from "../../store/departures.ts";
import { outcomeUnknown } from "../departure/end.ts";
import { tryToCatchUp } from "../filing/catch-up.ts";
import { followGeneration } from "../request-transfers.ts";
import { jobContext } from "../deadlines.ts";

/** Transfers of one run; each is one call to platform, all at the same time. */
const TRANSFERS_PER_RUN = 8;
/** Masters of one run. */
const MASTERS_PER_RUN = 16;

/** Sends due exit transfers, and reads the outcome of those that were sent, until each shows in the log of its Master. */
export async function sendExits(deps: Deps): Promise<boolean> {
  await settleImportedExits(deps);
  const claimed = await exitTransferQueue.claim(deps.pool, TRANSFERS_PER_RUN);
  await Promise.all(claimed.map((transfer) => sendExit(deps, transfer, jobContext())));
  // When the feed is late, the logs have the deals already.
  const masters = new Set(claimed.map(({ masterLogin }) => masterLogin));
  await Promise.all([...masters].map((login) => tryToCatchUp(deps, login, jobContext())));
  return claimed.length === TRANSFERS_PER_RUN;
}

/**
 * Requests an exit transfer from platform, or reads its outcome: a key is executed once. A finally refused transfer is
 * replaced by one under a new key. The transfer counts as applied only when the log of the Master shows it. Returns platform's id
 * of the transfer; undefined when it was refused or not answered.
 */
export async function sendExit(deps: Deps, transfer: ExitTransfer, context: CallContext): Promise<bigint | undefined> {
  const { pool, log, platform } = deps;
  const { id, key, masterLogin: login, amount, generation, tries } = transfer;
  try {
    const leg = { login, kind: MovementKind.EXIT, amount: moneyToProto(usd(-amount)) };
    const result = await platform.transfer(queuedTransfer({ key, leg, generation }), withReplyReserve(context));
    await followGeneration(deps, [result], context);
    if (result.state === TransferState.REFUSED) {
      await followUp(deps, transfer, result);
      return undefined;
    }
    const reason = result.state === TransferState.APPLIED ? undefined : stateText(result);
    await markExitSent(pool, id, { transferId: result.transferId, reason });
    return result.transferId;
  } catch (error) {
    log.info("exit transfer not answered, retry scheduled", { key, login, attempt: tries, error });
    await exitTransferQueue.retryLater(pool, [{ id, tries, reason: reasonOf(error) }]);
    return undefined;
  }
}

async function followUp(deps: Deps, transfer: ExitTransfer, result: TransferResult): Promise<void> {
  const { pool, wakeSignals, now, log } = deps;
  const { id, key, masterLogin } = transfer;
  const reason = stateText(result);
  const refused = { id, reason, transferId: result.transferId, refusals: transfer.refusals + 1 };
  await inTransaction(pool, async (tx) => {
    const at = now();
    const wait = isForMargin(result) ? await waitForMargin(tx, masterLogin, at) : undefined;
    if (!(await replaceExit(tx, refused, at))) return;
    afterCommit(tx, () => {
      const fields = { key, login: masterLogin, reason };
      if (wait === undefined) log.error("exit transfer refused, retry scheduled under a new key", fields);
      else if (wait.hasBegun) log.info("exit transfer refused for want of free margin, it waits", fields);
    });
    afterCommit(tx, wakeSignals.exits.notify);
  });
}

/** Platform has recorded the first transfer of a decided exit when this returns; it sends it by and by. */
export async function enqueueExit(deps: Deps, departure: Departure, context: CallContext): Promise<void> {
  const { subscriptionId, effective } = departure;
  assert(subscriptionId !== null, "an exit is of a subscription");
  if (effective === 0n) return;
  await settleImportedExits(deps);
  const transfer = await findFirstExitTransfer(deps.pool, subscriptionId);
  if (transfer === undefined || transfer.isSent) return;
  const transferId = await sendExit(deps, transfer, context);
  deps.wakeSignals.exits.notify();
  if (transferId !== undefined) return;
  // Another replica may have sent it, or have refused and replaced it.
  const sent = await findFirstExitTransfer(deps.pool, subscriptionId);
  if (sent?.isSent === true) return;
  throw outcomeUnknown(departure, "The Investor has left the pool. The exit transfer is still being sent.");
}

/**
 * Settles exits that the platform has executed and whose records were lost: the sum that imported transfers have taken off a Master
 * covers its oldest exits that were not requested. Of one that it covers
 * in part, the rest becomes an exit of its own: the amount that is decided again may be another one.
 */
async function settleImportedExits(deps: Deps): Promise<void> {
  for (const login of await listImportedExits(deps.pool, MASTERS_PER_RUN)) await settle(deps, login);
}

async function settle({ pool, now }: Deps, masterLogin: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const { imported, exits } = await listExitsToSettle(tx, masterLogin);
    const at = now();
    const covered: ExitTransfer[] = [];
    const rests: NewExitTransfer[] = [];
    let left = -imported;
    for (const exit of exits) {
      if (left <= 0n) break;
      const moved = exit.amount < left ? exit.amount : left;
      if (moved < exit.amount) rests.push({ subscriptionId: exit.subscriptionId, amount: exit.amount - moved });
      covered.push({ ...exit, amount: moved });
      left -= moved;
    }
    if (covered.length === 0) return;
    const ids = [...new Set(covered.map(({ subscriptionId }) => subscriptionId))];
    await changeHoldings(
      tx,
      covered.map(({ subscriptionId, amount }) => ({ subscriptionId, outbound: -amount })),
    );
    await markExitsSettled(tx, masterLogin, covered, at);
    await insertExitTransfers(tx, rests, at);
    publishExitsCompleted(tx, await cancelEmptied(tx, ids, at));
  });
}
