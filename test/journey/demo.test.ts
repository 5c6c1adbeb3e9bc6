import { expect, test } from "vitest";
import { demoAlone, startTestSystem } from "./support/system.ts";

const PATIENCE_MS = 120_000;

test(
  "the demo ends with every balance tied, and again after a stop and a start",
  { timeout: PATIENCE_MS },
  async () => {
    await using system = await startTestSystem();

    const first = system.demo();
    expect(await first.ended, first.said()).toBe(0);
    expect(first.said()).toContain("Every balance ties to the cent.");
    expect(first.said()).toContain("PAUSED -> CANCELLED");

    await system.restart();

    const second = system.demo();
    expect(await second.ended, second.said()).toBe(0);
    expect(second.said()).toContain("Every balance ties to the cent.");
  },
);

test("a demo without a system says what to do", async () => {
  const demo = demoAlone();
  expect(await demo.ended).toBe(1);
  expect(demo.said()).toMatch(/^make demo: no running system is known in .*: start one with "make run".*\n$/);
});
