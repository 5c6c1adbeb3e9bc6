import type { Deps } from "../deps.ts";
import { subscriptionService } from "../service.ts";
import { createLatch } from "./latch.ts";
import type { World } from "./world.ts";

type Call = (...args: unknown[]) => Promise<unknown>;

/** A replica with one call to the platform service that waits at a latch before it is sent. */
export function pausedAt(world: World, method: "hold" | "readAccount" | "readLog") {
  const { client } = world.platform;
  return paused(client[method] as Call, (late): Deps => ({ ...world.deps, platform: { ...client, [method]: late } }));
}

/** A replica that waits at a latch before it asks for the terms of a decision: a departure has its account lock then. */
export function pausedAtTerms(world: World) {
  const { fees } = world.deps;
  return paused(fees.findTerms as Call, (late): Deps => ({
    ...world.deps,
    fees: { ...fees, findTerms: late as never },
  }));
}

function paused(call: Call, depsWith: (late: Call) => Deps) {
  const latch = createLatch();
  const deps = depsWith(async (...args) => {
    await latch.pass();
    return await call(...args);
  });
  return { latch, deps, service: subscriptionService(deps) };
}
