import { expect } from "vitest";
import type { ProcessName, TestSystem } from "./system.ts";

/** Who is killed as soon as the demo says that. */
export type Kill = readonly [ProcessName, string];

/** Tells a saga while these are killed, in the order of its steps; every balance has to tie at its end. */
export async function tellWhileKilling(system: TestSystem, saga: string, kills: readonly Kill[]): Promise<void> {
  const demo = system.demo(saga);
  for (const [name, step] of kills) {
    await demo.hears(step);
    await system.kill(name);
  }
  expect(await demo.ended, demo.said() + system.said()).toBe(0);
}

/** The same, with everything killed at once and started again. */
export async function tellThroughRestart(system: TestSystem, saga: string, step: string): Promise<void> {
  const demo = system.demo(saga);
  await demo.hears(step);
  await system.restart("SIGKILL");
  expect(await demo.ended, demo.said() + system.said()).toBe(0);
}
