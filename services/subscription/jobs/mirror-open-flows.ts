import { retryLevel } from "#kernel/transient-failure.ts";
import assert from "node:assert/strict";
import { failpoint } from "#kernel/failpoint.ts";
import { afterCommit, inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { applyFlow } from "../domain/books.ts";
import { takeWhatFits } from "../domain/parts.ts";
import { jobContext } from "../processes/deadlines.ts";
import { sendMirror } from "../processes/mirror/send-mirror.ts";
import { publishExitsCompleted, publishMirrorsApplied } from "../messages/capital-events.ts";
import { insertArrivals } from "../store/arrivals.ts";
import { listOpenFlows, type OpenFlow } from "../store/flows.ts";
import {
  insertMirror,
  listMastersToMirror,
  lockMasterForMirror,
  markMirrorsApplied,
  mirrorQueue,
  type OpenMirror,
} from "../store/mirrors.ts";
import { lockHoldings, saveHoldings } from "../store/holdings.ts";
import { cancelEmptied } from "../store/subscriptions.ts";

/** Masters of one run, mirrored in parallel; the mirrors of each Master are sent strictly in order. */
const MASTERS_PER_RUN = 8;
/** One event carries all flows of a mirror and must not exceed the message size of the broker. */
const FLOWS_PER_MIRROR = 1_000;
/** The deal id of a mirror whose flows cancel out: no transfer is needed. */
const NO_DEAL = 0n;

/** Sends one transfer per Master for the net of all its open inflows and outflows. True when more are due now. */
export async function mirrorOpenFlows(deps: Deps): Promise<boolean> {
  const masters = await listMastersToMirror(deps.pool, MASTERS_PER_RUN);
  await Promise.all(masters.map((login) => netOpenFlows(deps, login)));
  if (masters.length > 0) failpoint("after_mirror");
  const claimed = await mirrorQueue.claim(deps.pool, MASTERS_PER_RUN);
  await Promise.all(claimed.map((mirror) => sendMirror(deps, mirror, jobContext())));
  return claimed.length === MASTERS_PER_RUN || masters.length === MASTERS_PER_RUN;
}

/** A failure on one Master does not stop the others. */
async function netOpenFlows(deps: Deps, login: string): Promise<void> {
  try {
    await inTransaction(deps.pool, (tx) => openMirror(tx, deps, login));
  } catch (error) {
    deps.log[retryLevel(error)]("flows of Master not netted, retry scheduled", { login, error });
  }
}

/** Takes the open flows of a Master into one mirror. Flows that cancel out are applied at once, without a transfer. */
async function openMirror(tx: Transaction, deps: Deps, masterLogin: string): Promise<void> {
  const at = deps.now();
  if (!(await lockMasterForMirror(tx, masterLogin))) return;
  const flows = takeWhatFits(await listOpenFlows(tx, masterLogin, FLOWS_PER_MIRROR));
  if (flows.length === 0) return;
  const amount = flows.reduce((net, flow) => net + flow.amount, 0n);
  const mirror = await insertMirror(tx, { masterLogin, amount, flowIds: flows.map(({ id }) => id), at });
  if (amount === 0n) await applyAtOnce(tx, deps, mirror, flows);
}

async function applyAtOnce(tx: Transaction, deps: Deps, mirror: OpenMirror, flows: readonly OpenFlow[]): Promise<void> {
  assert.equal(mirror.amount, 0n, "only flows that cancel out are applied without a deal");
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
