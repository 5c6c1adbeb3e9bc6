import { expect, test } from "vitest";
import { demoAlone, startTestSystem } from "./support/system.ts";

const TIMEOUT_MS = 300_000;
const MATCHED = /Every balance matches to the cent\./g;

test("every balance matches at the end of the demo, and again after a restart", { timeout: TIMEOUT_MS }, async () => {
  await using system = await startTestSystem({ PAMM_FEE_PERIOD: "PT15S" });

  const first = system.demo();
  expect(await first.ended, first.output()).toBe(0);
  expect(first.output().match(MATCHED)).toHaveLength(2);
  expect(first.output()).toContain("PAUSED -> CANCELLED");

  await system.restart();

  const second = system.demo("lifecycle");
  expect(await second.ended, second.output()).toBe(0);
  expect(second.output().match(MATCHED)).toHaveLength(1);
});

test("a demo without a running system prints how to start one", async () => {
  const demo = demoAlone();
  expect(await demo.ended).toBe(1);
  expect(demo.output()).toMatch(/^make demo: no running system is known in .*: start one with "make run".*\n$/);
});
