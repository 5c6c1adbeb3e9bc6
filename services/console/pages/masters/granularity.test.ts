import { expect, test } from "vitest";
import { granularityOf } from "./granularity.ts";
import { inTimeOfDeals } from "./in-time-of-deals.ts";

const VALUED = { nav_per_unit: "1" };
const FEES_ONLY = { nav_per_unit: null };

test("one day with a value is shown by result, and everything else by day, unless the address says otherwise", () => {
  expect(granularityOf(null, [])).toBe("day");
  expect(granularityOf(null, [FEES_ONLY, VALUED])).toBe("result");
  expect(granularityOf(null, [VALUED, VALUED])).toBe("day");
  expect([granularityOf("result", [VALUED, VALUED]), granularityOf("day", [VALUED])]).toEqual(["result", "day"]);
  expect(granularityOf("hour", [VALUED])).toBe("result");
});

test("results are drawn in the order of their deals, those of one instant in that of their allocation", () => {
  const result = (number: bigint, at: string) => ({
    number,
    deal_id: number,
    deal_at: at,
    allocated_at: at,
    result: "1.00",
    raised: "0.00",
    nav_per_unit: "1",
    drawdown: "0",
    pool_value: "1",
    pool_units: "1",
  });
  const [early, late] = ["2026-01-02T03:04:05.000000", "2026-01-02T03:04:06.000000"];
  const drawn = inTimeOfDeals([result(4n, early), result(3n, late), result(2n, late), result(1n, early)]);
  expect(drawn.map(({ at }) => at)).toEqual([early, early, late, late]);
  expect(drawn.map((one) => (one as unknown as { number: bigint }).number)).toEqual([1n, 4n, 2n, 3n]);
});
