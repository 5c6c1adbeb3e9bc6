import { retryLevel } from "#kernel/jobs/transient-failure.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { later } from "#kernel/jobs/retry.ts";
import type { Deps } from "../deps.ts";
import { changeOfFlow } from "../domain/books.ts";
import { movedBefore } from "../domain/imported-transfers.ts";
import { takeWhatFits } from "../domain/parts.ts";
import { jobContext } from "../processes/deadlines.ts";
import { publishExitsCompleted, publishMirrorsApplied } from "../messages/capital-events.ts";
import { insertArrivals } from "../store/arrivals.ts";
import { listOpenFlows, type OpenFlow } from "../store/flows.ts";
import {
  countMirrorRefusal,
  insertMirrors,
  listMastersToMirror,
  lockMastersForMirror,
  markMirrorsApplied,
  mirrorQueue,
  type OpenMirror,
  refuseMirror,
} from "../store/mirrors.ts";
import { changeHoldings, lockHoldings } from "../store/holdings.ts";
import { cancelEmptied } from "../store/subscriptions.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type { Delay } from "#kernel/work-queue/work-queue.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { waitForArchived, waitForMargin } from "../store/market-waits.ts";
import { requestTransfers } from "../processes/request-transfers.ts";
import { tryToCatchUp } from "../processes/filing/catch-up.ts";
import { isForMargin, queuedTransfer, stateText } from "../messages/transfer.ts";

/** Masters of one run, mirrored together; the mirrors of each Master are sent strictly in order. */
const MASTERS_PER_RUN = 64;
/** One event carries all flows of a mirror and must not exceed the message size of the broker. */
const FLOWS_PER_MIRROR = 1_000;
/**
 * While so many movements are not filed, a mirror waits for the flows of its Master among them: one transfer instead of many.
 * No signal says that the wait is over: the job looks again each second, because mirrors are due.
 */
const LAG_TO_WAIT = 1_000n;
/** The longest of these waits. */
const MAX_WAIT_MS = 30_000;
/** The deal id of a mirror whose flows cancel out or were mirrored before: no transfer is needed. */
const NO_DEAL = 0n;

/** Sends one transfer per Master for the net of all its open inflows and outflows. True when more are due now. */
export async function mirrorOpenFlows(deps: Deps): Promise<boolean> {
  const before = deps.movementLag() < LAG_TO_WAIT ? undefined : later(deps.now(), -MAX_WAIT_MS);
  const masters = await listMastersToMirror(deps.pool, { before, limit: MASTERS_PER_RUN });
  await netOpenFlows(deps, masters);
  if (masters.length > 0) failpoint("after_mirror");
  const claimed = await mirrorQueue.claim(deps.pool, MASTERS_PER_RUN);
  if (claimed.length > 0) await sendMirrors(deps, claimed, jobContext());
  return claimed.length === MASTERS_PER_RUN || masters.length === MASTERS_PER_RUN;
}

/** When it fails for several Masters it is repeated for each, because a failure on one must not stop the others. */
async function netOpenFlows(deps: Deps, logins: readonly string[]): Promise<void> {
  if (logins.length === 0) return;
  try {
    await inTransaction(deps.pool, (tx) => openMirrors(tx, deps, logins));
  } catch (error) {
    const [login, ...others] = logins;
    if (others.length > 0) for (const each of logins) await netOpenFlows(deps, [each]);
    else deps.log[retryLevel(error)]("flows of Master not netted, retry scheduled", { login, error });
  }
}

/**
 * Takes the open flows of each Master into one mirror; while its outflows wait for free margin, the inflows alone. Flows that cancel out,
 * or that imported transfers have moved already, are applied at once, without a transfer.
 */
async function openMirrors(tx: Transaction, deps: Deps, masterLogins: readonly string[]): Promise<void> {
  const locked = await lockMastersForMirror(tx, masterLogins);
  const open = Map.groupBy(
    await listOpenFlows(tx, [...locked.keys()], FLOWS_PER_MIRROR),
    ({ masterLogin }) => masterLogin,
  );
  const nets = [...open].map(([masterLogin, flows]) => {
    const taken = takeWhatFits(flows);
    const net = taken.reduce((sum, flow) => sum + flow.amount, 0n);
    const imported = movedBefore(taken, locked.get(masterLogin) ?? 0n);
    return { masterLogin, flows: taken, amount: net - imported, imported };
  });
  for (const mirror of await insertMirrors(tx, nets, deps.now())) {
    if (mirror.amount !== 0n) continue;
    const flows = nets.find(({ masterLogin }) => masterLogin === mirror.masterLogin)?.flows ?? [];
    await applyAtOnce(tx, deps, mirror, flows);
  }
}

async function applyAtOnce(tx: Transaction, deps: Deps, mirror: OpenMirror, flows: readonly OpenFlow[]): Promise<void> {
  const at = deps.now();
  const locked = await lockHoldings(tx, [...new Set(flows.map(({ subscriptionId }) => subscriptionId))]);
  const holdings = new Map(locked.map((holding) => [holding.subscriptionId, holding]));
  await changeHoldings(tx, flows.map(changeOfFlow));
  await insertArrivals(
    tx,
    flows.filter(({ amount }) => amount > 0n),
  );
  await markMirrorsApplied(tx, [{ id: mirror.id, dealId: NO_DEAL }], at);
  publishMirrorsApplied(tx, [{ ...mirror, dealId: NO_DEAL, flows }], holdings);
  // These may have been the last flows of an Investor that has left.
  publishExitsCompleted(tx, await cancelEmptied(tx, [...holdings.keys()], at));
  afterCommit(tx, deps.wakeSignals.strikes.notify);
}

/** Code of platform: the broker has archived the account. */
const ARCHIVED = "account_archived";

/**
 * Requests mirrors from platform, or reads their outcome: a key is executed once. A mirror counts as applied only when the log
 * of the Master shows it, so that the ledger always matches one log position.
 */
async function sendMirrors(deps: Deps, mirrors: readonly OpenMirror[], context: CallContext): Promise<void> {
  const requests = mirrors.map(({ key, masterLogin: login, amount, generation }) => {
    const leg = { login, kind: MovementKind.MIRROR, amount: moneyToProto(usd(amount)) };
    return queuedTransfer({ key, generation, leg });
  });
  const answers = await requestTransfers(deps, requests, context);
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
    // What platform has just recorded is looked at again when the claim ends.
    if (typeof answer !== "object" || tries > 1) waiting.push({ id, tries, reason });
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
    await waitForArchived(tx, [login]);
    await refuseMirror(tx, mirror, ARCHIVED, now());
    afterCommit(tx, () => log.info("mirror not sent, its Master is archived, its flows wait", { key, login }));
  });
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
