import { expect, test } from "vitest";
import { lostAfterMs, mayStillWrite } from "./permit.ts";

test("a permit is valid for two seconds less a margin, and never before it was granted", () => {
  expect(mayStillWrite(1_000, 1_000)).toBe(true);
  expect(mayStillWrite(1_000, 2_899)).toBe(true);
  expect(mayStillWrite(1_000, 2_900)).toBe(false);
  expect(mayStillWrite(1_000, 999)).toBe(false);
  expect(mayStillWrite(1_000, Number.NaN)).toBe(false);
});

test("an attempt counts as lost when permit and socket time-out are over, not earlier", () => {
  expect(lostAfterMs(10_000, 5_000)).toBe(15_000);
});
