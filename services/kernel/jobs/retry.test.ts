import { expect, test } from "vitest";
import { backOffMs } from "./retry.ts";

test("a pause doubles with each failed try up to the limit", () => {
  expect([0, 1, 2, 3, 8, 2_000].map((tries) => backOffMs(tries))).toEqual([250, 250, 500, 1_000, 30_000, 30_000]);
  expect([1, 4, 2_000].map((tries) => backOffMs(tries, 1_000))).toEqual([250, 1_000, 1_000]);
});
