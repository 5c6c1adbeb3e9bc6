import { expect, test } from "vitest";
import type { Result } from "./document.ts";
import { withMeasured } from "./scaling.ts";

const PAGE = "# Scaling\n\n<!-- measured: begin -->\nold\n<!-- measured: end -->\n\nThe rest.\n";

function resultOf(operationCosts: Record<string, Record<string, number>>): Result {
  const section = { comparisons: [], tables: [], charts: [], operationCosts };
  return { name: "deposit", title: "", about: "", conditions: {} as Result["conditions"], outcome: { section } };
}

test("the measured section of the page is replaced, and nothing else", () => {
  const page = withMeasured(PAGE, [resultOf({ deposit: { postgres: 2, platform: 1.5, edge: 0.5, simulator: 1 } })]);
  expect(page).toContain("| deposit | 5.00 | 2.00 | 2.00 | platform: 667 | 11,200 | 22.4 |");
  expect(page).not.toContain("old");
  expect(page.startsWith("# Scaling\n\n<!-- measured: begin -->\n")).toBe(true);
  expect(page.endsWith("<!-- measured: end -->\n\nThe rest.\n")).toBe(true);
  expect(withMeasured(page, [])).toContain("Not measured yet");
});

test("the peak of a million Investors is shown once all of its operations are measured", () => {
  const cost = { postgres: 1, platform: 2, nats: 5 };
  const all = {
    "deposit with mirror": cost,
    "withdrawal with mirror": cost,
    "read of an Investor": cost,
    posting: cost,
  };
  expect(withMeasured(PAGE, [resultOf(all)])).not.toContain("The peak");
  // 8 + 8 + 1,200 + 600 + 60 operations a second.
  expect(withMeasured(PAGE, [resultOf({ ...all, "fee leg": cost })])).toContain(
    "keeps 1.88 cores of Postgres and 3.75 cores of the services busy",
  );
});

test("a page without the marks is refused", () => {
  expect(() => withMeasured("# Scaling\n", [])).toThrow("has no lines");
});
