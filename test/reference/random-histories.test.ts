import { expect, test } from "vitest";
import { countFigures } from "../support/figures.ts";
import { sized } from "../support/proof.ts";
import { compareWithReference } from "./compare.ts";

const TIMEOUT = { timeout: sized({ test: 120_000, proof: 60 * 60_000 }) };

test("every cent and every fee of random histories is what exact fractions say", TIMEOUT, () => {
  const runs = sized({ test: 300, proof: 30_000 });
  const { saga, tally } = compareWithReference({ seed: 20_260_103, runs });
  expect(saga).toBeUndefined();
  countFigures({ "allocations compared": tally.allocations });
  expect(tally.allocations).toBeGreaterThan(1500);
  expect(tally.ties).toBeLessThan(tally.allocations / 1000);
});

test("a single pool that trades all the time is what exact fractions say", TIMEOUT, () => {
  const kinds = ["deposit", "assign", "open", "add", "mark", "close", "reverse", "charge", "result", "week"] as const;
  const { saga, tally } = compareWithReference({
    seed: 77,
    runs: sized({ test: 100, proof: 3_000 }),
    shape: { investors: 6, masters: 1, steps: 60, kinds },
  });
  expect(saga).toBeUndefined();
  countFigures({ "allocations compared": tally.allocations });
  expect(tally.allocations).toBeGreaterThan(1000);
  expect(tally.ties).toBeLessThan(tally.allocations / 1000);
});
