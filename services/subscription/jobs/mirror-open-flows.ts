import { retryLevel } from "#kernel/transient-failure.ts";
import assert from "node:assert/strict";
import { failpoint } from "#kernel/failpoint.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { later } from "#kernel/retry.ts";
import type { Deps } from "../deps.ts";
import { applyFlow } from "../domain/books.ts";
import { movedBefore } from "../domain/imported-transfers.ts";
import { takeWhatFits } from "../domain/parts.ts";
import { jobContext } from "../processes/deadlines.ts";
import { sendMirrors } from "../processes/mirror/send-mirrors.ts";
import { publishExitsCompleted, publishMirrorsApplied } from "../messages/capital-events.ts";
import { insertArrivals } from "../store/arrivals.ts";
import { listOpenFlows, type OpenFlow } from "../store/flows.ts";
import {
  insertMirrors,
  listMastersToMirror,
  lockMastersForMirror,
  markMirrorsApplied,
  mirrorQueue,
  type OpenMirror,
} from "../store/mirrors.ts";
import { lockHoldings, saveHoldings } from "../store/holdings.ts";
import { cancelEmptied } from "../store/subscriptions.ts";

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
  const short = [...locked.values()].filter(({ isShortOfMargin }) => isShortOfMargin).map(({ login }) => login);
  const open = Map.groupBy(
    await listOpenFlows(tx, [...locked.keys()], { limit: FLOWS_PER_MIRROR, withoutOutflows: short }),
    ({ masterLogin }) => masterLogin,
  );
  const nets = [...open].map(([masterLogin, flows]) => {
    const taken = takeWhatFits(flows);
    const net = taken.reduce((sum, flow) => sum + flow.amount, 0n);
    const imported = movedBefore(taken, locked.get(masterLogin)?.imported ?? 0n);
    return { masterLogin, flows: taken, amount: net - imported, imported };
  });
  for (const mirror of await insertMirrors(tx, nets, deps.now())) {
    const flows = nets.find(({ masterLogin }) => masterLogin === mirror.masterLogin)?.flows ?? [];
    if (mirror.amount === 0n) await applyAtOnce(tx, deps, mirror, flows);
  }
}

async function applyAtOnce(tx: Transaction, deps: Deps, mirror: OpenMirror, flows: readonly OpenFlow[]): Promise<void> {
  assert.equal(
    mirror.amount,
    0n,
    "only flows that cancel out, or that were mirrored before, are applied without a deal",
  );
  const at = deps.now();
  const locked = await lockHoldings(tx, [...new Set(flows.map(({ subscriptionId }) => subscriptionId))]);
  const holdings = new Map(locked.map((holding) => [holding.subscriptionId, holding]));
  for (const flow of flows) applyFlow(holdings, flow);
  await saveHoldings(tx, [...holdings.values()]);
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
