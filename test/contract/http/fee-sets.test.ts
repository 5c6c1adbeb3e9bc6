import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { feeKind, feePaymentStatus, feeRunStatus } from "../../../services/edge/api/fee/payments.ts";

const MIGRATION = join(import.meta.dirname, "../../../services/fee/migrations/0001_fee.sql");

test("the documented values of fees are those that the tables accept, and that the view of runs derives", () => {
  const sql = readFileSync(MIGRATION, "utf8");
  const sets = [...sql.matchAll(/check \((kind|status) in \(([^)]+)\)\)/g)].map(([, , list = ""]) =>
    list.split(",").map((value) => value.trim().slice(1, -1)),
  );
  const [runs = ""] = /create view fee_run_row [^;]+;/.exec(sql.replaceAll(/--.*/g, "")) ?? [];
  const derived = Array.from(runs.matchAll(/(?:then|else) '(\w+)'/g), ([, value]) => value);

  for (const { values } of [feeKind, feePaymentStatus]) expect(sets).toContainEqual(values);
  expect(derived.toSorted()).toEqual(feeRunStatus.values.toSorted());
});
