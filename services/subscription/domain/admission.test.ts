import { expect, test } from "vitest";
import { checkAdmission } from "./admission.ts";

test("an open Master admits, and each other state refuses with its name", () => {
  expect(() => checkAdmission("3000001", undefined)).not.toThrow();
  for (const state of ["not_accepting", "closing", "archived"] as const) {
    expect(() => checkAdmission("3000001", state)).toThrow(
      expect.objectContaining({ code: "master_not_accepting", outcome: "not_executed", details: { state } }),
    );
  }
});
