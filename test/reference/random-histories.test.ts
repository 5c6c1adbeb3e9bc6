import { expect, test } from "vitest";
import { countFigures } from "../support/figures.ts";
import { sized } from "../support/proof.ts";
import { compareWithReference, FEE_VERSIONS, STOP_OUTS } from "./compare.ts";

const TIMEOUT = { timeout: sized({ test: 120_000, proof: 60 * 60_000 }) };

test("every cent and every fee of random histories equals the result in exact fractions", TIMEOUT, () => {
  const runs = sized({ test: 120, proof: 30_000 });
  const { counterexample, tally } = compareWithReference({ seed: 20_260_103, runs });
  expect(counterexample).toBeUndefined();
  countFigures({ "allocations compared": tally.allocations });
  expect(tally.allocations).toBeGreaterThan(5 * runs);
  expect(tally.ties).toBeLessThan(tally.allocations / 1000);
  expect(tally.repaired).toBeGreaterThan(runs / 4);
  expect(tally.days).toBeGreaterThan(5 * runs);
  expect(tally.tooSmall).toBeLessThan(tally.days / 5);
});

test(
  "every fee of random histories of scheduled, cancelled and earlier versions equals the result in exact fractions",
  TIMEOUT,
  () => {
    const runs = sized({ test: 80, proof: 10_000 });
    const { counterexample, tally } = compareWithReference({ seed: 84, runs, shape: FEE_VERSIONS });
    expect(counterexample).toBeUndefined();
    expect(tally.allocations).toBeGreaterThan(runs);
  },
);

test("every cent of pools that lose more than they have equals the result in exact fractions", TIMEOUT, () => {
  const runs = sized({ test: 60, proof: 10_000 });
  const { counterexample, tally } = compareWithReference({ seed: 19, runs, shape: STOP_OUTS });
  expect(counterexample).toBeUndefined();
  expect(tally.compensated).toBeGreaterThan(runs / 2);
});

test("a single pool that trades all the time equals the result in exact fractions", TIMEOUT, () => {
  const kinds = [
    "deposit",
    "assign",
    "open",
    "add",
    "mark",
    "close",
    "reverse",
    "charge",
    "result",
    "dealer",
    "week",
  ] as const;
  const runs = sized({ test: 40, proof: 3_000 });
  const { counterexample, tally } = compareWithReference({
    seed: 77,
    runs,
    shape: { investors: 6, masters: 1, steps: 60, kinds },
  });
  expect(counterexample).toBeUndefined();
  countFigures({ "allocations compared": tally.allocations });
  expect(tally.allocations).toBeGreaterThan(10 * runs);
  expect(tally.ties).toBeLessThan(tally.allocations / 1000);
});
