import { expect, test } from "vitest";
import { sharedSystem } from "./support/shared-system.ts";

const TIMEOUT_MS = 300_000;
const MATCHED = /Every balance matches to the cent\./g;

test(
  "the demo runs two short fee weeks on a system of its own when the fee weeks of the system are long",
  { timeout: TIMEOUT_MS },
  async () => {
    const system = await sharedSystem();

    const demo = system.demo("fortnight");

    expect(await demo.ended, demo.output()).toBe(0);
    expect(demo.output()).toContain("a fee week lasts 15 s here");
    expect(demo.output()).not.toContain(`Two weeks of trading on ${system.info().url}`);
    expect(demo.output().match(MATCHED)).toHaveLength(1);
  },
);
