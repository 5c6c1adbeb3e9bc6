import { expect } from "vitest";
import type { ProcessName, TestSystem } from "../journey/support/system.ts";

/** The process to kill as soon as the demo prints the text, or all of them at once. */
export type Kill = readonly [ProcessName | "everything", string];

/** Runs a scenario of the demo and kills processes in the order of its steps; every balance matches at the end. */
export async function runDemoWhileKilling(system: TestSystem, scenario: string, kills: readonly Kill[]): Promise<void> {
  const demo = system.demo(scenario);
  for (const [name, step] of kills) {
    await demo.waitFor(step);
    await (name === "everything" ? system.restart("SIGKILL") : system.kill(name));
  }
  expect(await demo.ended, demo.output() + system.output()).toBe(0);
  if (scenario === "lifecycle") expect(demo.output()).toContain("PAUSED -> CANCELLED");
}
