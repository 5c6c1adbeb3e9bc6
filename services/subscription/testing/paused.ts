import type { Deps } from "../deps.ts";
import { subscriptionService } from "../service.ts";
import { createLatch } from "./latch.ts";
import type { World } from "./world.ts";

/** A replica with one call to the platform service that waits at a latch before it is sent. */
export function pausedAt(world: World, method: "hold" | "readAccount" | "readLog") {
  const latch = createLatch();
  const { client } = world.platform;
  const call = client[method] as (...args: unknown[]) => Promise<unknown>;
  const late = async (...args: unknown[]): Promise<unknown> => {
    await latch.pass();
    return await call(...args);
  };
  const paused: Deps["platform"] = { ...client, [method]: late };
  const deps: Deps = { ...world.deps, platform: paused };
  return { latch, deps, service: subscriptionService(deps) };
}
