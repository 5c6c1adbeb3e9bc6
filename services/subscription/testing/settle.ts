import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { fileMovements } from "../processes/filing/file-movements.ts";
import type { Deps } from "../deps.ts";
import { allocateResults } from "../jobs/allocate-results.ts";
import { openExternalReviews } from "../jobs/open-external-reviews.ts";
import { decideWeeks, recordDecisions } from "../jobs/decide-weeks.ts";
import { closeWeeks, strikeWaitingFlows, valuePools } from "../jobs/mark-masters.ts";
import { findReturnedMasters } from "../jobs/find-returned-masters.ts";
import { mirrorOpenFlows } from "../jobs/mirror-open-flows.ts";
import { runQueued } from "../jobs/run-queued.ts";
import { settleAssignments } from "../jobs/settle-assignments.ts";
import { reportBooks } from "../processes/allocate/settle-books.ts";
import { settleDepartures } from "../jobs/settle-departures.ts";
import { expectBooksToReconcile } from "./books.ts";
import { anAssignment, aCall, aMaster, anInvestor, aWorld, type World } from "./world.ts";
import { postResults } from "../processes/posting/send-postings.ts";
import { sendExits } from "../processes/exit/send-exit.ts";

/** More runs of the jobs than any test needs. */
const MAX_RUNS = 60;
const JOBS_PAUSE_MS = 20;

/** Files each entry of the feed that was not delivered yet, as the relay and the consumer do. */
export async function deliver({ platform, deps, state }: World): Promise<boolean> {
  const batch = platform.ledger.feed.slice(state.delivered);
  if (batch.length === 0) return false;
  await inTransaction(deps.pool, (tx) => fileMovements(tx, deps, batch));
  state.delivered += batch.length;
  return true;
}

/** One run of every job. */
export async function runJobs(deps: Deps): Promise<boolean> {
  const isMore = [
    await reportBooks(deps),
    await findReturnedMasters(deps),
    await mirrorOpenFlows(deps),
    await sendExits(deps),
    await allocateResults(deps),
    await closeWeeks(deps),
    await decideWeeks(deps),
    await recordDecisions(deps),
    await strikeWaitingFlows(deps),
    await valuePools(deps),
    await postResults(deps),
    await settleAssignments(deps),
    await settleDepartures(deps),
    await openExternalReviews(deps),
    await runQueued(deps),
  ];
  return isMore.some(Boolean);
}

/** Delivers and runs the jobs until nothing changes any more, at the present time of the clock. */
export async function settle(world: World): Promise<void> {
  for (let runs = 0; runs < MAX_RUNS; runs += 1) {
    const isDelivered = await deliver(world);
    const isMore = await runJobs(world.deps);
    if (!isDelivered && !isMore && world.platform.ledger.feed.length === world.state.delivered) return;
  }
  throw new Error("the jobs always find more work");
}

/** Nothing changes any more, and each cent is in exactly one bucket. */
export async function settleAndReconcile(world: World): Promise<void> {
  await settle(world);
  await expectBooksToReconcile(world);
}

/** Runs the jobs while a command may wait for them. */
export async function whileJobsRun<T>(world: World, command: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = Promise.allSettled([command]).finally(() => (isOver = true));
  while (!isOver) {
    await deliver(world);
    await runJobs(world.deps);
    await sleep(JOBS_PAUSE_MS);
  }
  await ended;
  return await command;
}

export type Pair = { readonly masterLogin: string; readonly investorLogin: string; readonly id: bigint };

/** Subscribes an Investor that has `balance` cents in the Master's pool. */
export async function subscribed(world: World, masterLogin: string, balance: bigint): Promise<Pair> {
  const [pair] = await subscribedAll(world, [{ masterLogin, balance }]);
  assert(pair !== undefined);
  return pair;
}

type Wanted = { readonly masterLogin: string; readonly balance: bigint };

/** Subscribes an Investor for each, and settles once. */
export async function subscribedAll(world: World, wanted: readonly Wanted[]): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (const { masterLogin, balance } of wanted) {
    const investorLogin = anInvestor(world, balance);
    const { subscription } = await world.service.assign(anAssignment({ masterLogin, investorLogin }), aCall());
    assert(subscription !== undefined);
    pairs.push({ masterLogin, investorLogin, id: subscription.id });
  }
  await settle(world);
  return pairs;
}

/** A world in which one Investor has `balance` cents in the pool of a Master. */
export async function aPair(balance: bigint): Promise<Pair & { readonly world: World }> {
  const world = await aWorld();
  return { world, ...(await subscribed(world, aMaster(world, 0n), balance)) };
}
