import { expect, test } from "vitest";
import { sharedSystem } from "./support/shared-system.ts";

const TIMEOUT_MS = 300_000;
const TIED = /Every balance ties to the cent\./g;

test(
  "where fee weeks are long, two short ones are told on a system of their own",
  { timeout: TIMEOUT_MS },
  async () => {
    const system = await sharedSystem();

    const demo = system.demo("fortnight");

    expect(await demo.ended, demo.said()).toBe(0);
    expect(demo.said()).toContain("a fee week lasts 15 s here");
    expect(demo.said()).not.toContain(`Two weeks of trading on ${system.told().url}`);
    expect(demo.said().match(TIED)).toHaveLength(1);
  },
);
