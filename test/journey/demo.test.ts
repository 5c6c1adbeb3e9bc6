import { expect, test } from "vitest";
import { demoAlone, startTestSystem } from "./support/system.ts";

const TIMEOUT_MS = 300_000;
const TIED = /Every balance matches to the cent\./g;

test("the demo ends with every balance tied, and again after a stop and a start", { timeout: TIMEOUT_MS }, async () => {
  await using system = await startTestSystem({ PAMM_FEE_PERIOD: "PT15S" });

  const first = system.demo();
  expect(await first.ended, first.said()).toBe(0);
  expect(first.said().match(TIED)).toHaveLength(2);
  expect(first.said()).toContain("PAUSED -> CANCELLED");

  await system.restart();

  const second = system.demo("lifecycle");
  expect(await second.ended, second.said()).toBe(0);
  expect(second.said().match(TIED)).toHaveLength(1);
});

test("a demo without a system says what to do", async () => {
  const demo = demoAlone();
  expect(await demo.ended).toBe(1);
  expect(demo.said()).toMatch(/^make demo: no running system is known in .*: start one with "make run".*\n$/);
});
