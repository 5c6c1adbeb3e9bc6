import { expect, test } from "vitest";
import type { Models } from "../../../client/index.ts";
import { marksOf } from "./read-marks.ts";

const CALCULATION = {
  through_deal_id: null,
  through_deal_at: null,
  high_water_mark_before: "0.00",
  floating: "0.00",
  marked_at: null,
  marked_late_seconds: null,
  charged: [],
  spared: [],
  exact_fee: "0.00",
  rounded_off: "0.00",
  fee: "0.00",
  debt_before: "0.00",
};

function explanation(
  master: string,
  own: { at: string; result: string; high_water_mark_after: string } | null,
): Models["FeePaymentExplanation"] {
  return {
    payment_id: 1n,
    kind: "PF",
    status: "EXECUTED",
    cashflow_unique_key: "",
    master_login: master,
    investor_login: "3000003",
    run_id: 1n,
    run_period_start: "",
    run_period_end: "",
    due: "0.00",
    prepaid: "0.00",
    amount: "0.00",
    uncollected: "0.00",
    executed_at: null,
    complete: true,
    missing: [],
    calculation: own === null ? null : { ...CALCULATION, ...own },
    flows: null,
    debt_parts: [],
    lines: [],
  };
}

test("marks are in ascending time, of one Master, and a debt has none", () => {
  const found = [
    explanation("3000001", { at: "2026-01-09", result: "20.00", high_water_mark_after: "20.00" }),
    explanation("3000001", null),
    explanation("3000009", { at: "2026-01-03", result: "9.00", high_water_mark_after: "9.00" }),
    explanation("3000001", { at: "2026-01-02", result: "15.00", high_water_mark_after: "10.00" }),
  ];
  expect(marksOf(found, "3000001")).toEqual([
    { at: "2026-01-02", values: ["15.00", "10.00"] },
    { at: "2026-01-09", values: ["20.00", "20.00"] },
  ]);
});
