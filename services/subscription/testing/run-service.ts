import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { subscriptionJobs } from "../service.ts";
import { expectBooksToReconcile } from "./books.ts";
import { poolLedger } from "./ledger.ts";
import { balanceOf } from "#test/support/platform-fake/ledger.ts";
import { deliver } from "./settle.ts";
import { type World } from "./world.ts";

/** Runs the whole service: its jobs as in production, and a feed that is delivered as it grows. */
export function runningService(world: World): AsyncDisposable {
  const stop = new AbortController();
  const delivering = (async () => {
    while (!stop.signal.aborted) {
      await deliver(world).catch(() => undefined);
      await sleep(5);
    }
  })();
  const jobs = subscriptionJobs(world.deps);
  const watching = watch(world, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await delivering;
      await watching;
      for (const job of jobs) await job[Symbol.asyncDispose]();
    },
  };
}

/** Checks that the books reconcile at every instant, not only at the end. */
async function watch(world: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await expectBooksToReconcile(world);
    await sleep(20);
  }
}

/** Waits until nothing is in transit: the balance of the Master equals the shares of its pool. */
export async function expectConverged(world: World, masterLogin: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const { holdings, external } = await poolLedger(world, masterLogin);
        const inFlight = holdings.filter(({ inbound, waiting, outbound }) => inbound + waiting + outbound !== 0n);
        const pooled = holdings.reduce((total, holding) => total + holding.pooled, 0n);
        const undelivered = world.platform.ledger.feed.length - world.state.delivered;
        return {
          undelivered,
          inFlight,
          master: balanceOf(world.platform.ledger, masterLogin) - pooled - external,
        };
      },
      { timeout: 20_000, interval: 50 },
    )
    .toEqual({ undelivered: 0, inFlight: [], master: 0n });
  await expectBooksToReconcile(world);
}
