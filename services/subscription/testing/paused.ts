import type { Deps } from "../deps.ts";
import { subscriptionService } from "../service.ts";
import type { World } from "./world.ts";

/** Lets a test pause a call to another service and continue it later. */
export type Latch = {
  /** Resolves when a call waits at it. */
  readonly reached: Promise<void>;
  readonly open: () => void;
  readonly pass: () => Promise<void>;
};

export function createLatch(): Latch {
  const arrival = Promise.withResolvers<void>();
  const opening = Promise.withResolvers<void>();
  return {
    reached: arrival.promise,
    open: () => opening.resolve(),
    async pass() {
      arrival.resolve();
      await opening.promise;
    },
  };
}

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
