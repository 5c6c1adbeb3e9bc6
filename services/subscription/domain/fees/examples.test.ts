import { expect, test } from "vitest";
import { termsFrom, WorkedExample } from "../../testing/worked-example.ts";

test("profit that was made while fees are disabled is charged after they are enabled again", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+400.00");
  example.change({ enabled: false }).result("+600.00");
  expect(example.run()).toBe("0.00");
  expect(example.state).toEqual({ earned: "1000.00", mark: "0.00", layers: ["400.00", "600.00"], balance: "11000.00" });
  example.change({ enabled: true }).result("+200.00");
  expect(example.run()).toBe("180.00");
  expect(example.state).toEqual({ earned: "1200.00", mark: "1200.00", layers: [], balance: "11020.00" });
  example.change({ enabled: false }).result("-300.00");
  expect(example.run()).toBe("0.00");
  example.change({ enabled: true }).result("+200.00");
  expect(example.run()).toBe("0.00");
  expect(example.state).toEqual({ earned: "1100.00", mark: "1200.00", layers: [], balance: "10920.00" });
  expect(example.result("+150.00").run()).toBe("15.00");
  expect(example.state).toEqual({ earned: "1250.00", mark: "1250.00", layers: [], balance: "11055.00" });
});

test("an open loss at the cut-off protects the profit that was earned last", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+1000.00");
  expect(example.run("-400.00")).toBe("180.00");
  expect(example.state).toEqual({ earned: "1000.00", mark: "600.00", layers: ["400.00"], balance: "10820.00" });
});

test("when the open loss recovers, the protected profit is charged", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+1000.00");
  example.run("-400.00");
  expect(example.result("+50.00").run()).toBe("135.00");
  expect(example.state).toEqual({ earned: "1050.00", mark: "1050.00", layers: [], balance: "10735.00" });
});

test("a rate from a past date applies to profit that is not crystallised only", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+1000.00");
  const since = example.earnings.layers[0]!.earnedFrom;
  expect(example.run()).toBe("300.00");
  example.result("+100.00").change({ ratePpm: 200_000, from: since }).result("+100.00");
  expect(example.run()).toBe("40.00");
  expect(example.state.mark).toBe("1200.00");
});

test("a rate is charged from its scheduled instant on, a change in between does not move it, and cancelled it is never charged", () => {
  const example = new WorkedExample("10000.00", 500_000);
  const afterMinutes = (minutes: number) => new Date(example.now.getTime() + minutes * 60_000);
  example.change({ ratePpm: 900_000, from: afterMinutes(5) }).change({ ratePpm: 200_000 });
  // The last of these results is earned when the scheduled version begins.
  example.result("+100.00").result("+100.00").result("+100.00");
  expect(example.pending()).toBe("130.00");

  example.change({ ratePpm: 1_000_000, from: afterMinutes(3) }).cancelScheduled();
  expect(example.result("+100.00").pending()).toBe("220.00");
});

test("an earlier date re-rates only the profit since then that is not charged", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+1000.00");
  expect(example.run("-400.00")).toBe("180.00");
  example.result("+100.00");
  const between = new Date(example.now.getTime() - 1);
  example.result("+100.00").change({ ratePpm: 100_000, from: between });
  // 400.00 that an open loss had spared have their old rate; the charged 600.00 stay charged.
  expect(example.run()).toBe("140.00");
  expect(example.state).toMatchObject({ mark: "1200.00", layers: [] });
});

test("profit from before the first version has rate 0, and the first fee waives it", () => {
  const example = new WorkedExample("10000.00", 300_000);
  example.terms = termsFrom(new Date("2026-01-05T00:02:30Z"));
  example.result("+100.00").result("+50.00");
  expect(example.run()).toBe("15.00");
  expect(example.state.mark).toBe("150.00");
});

test("a repair pays no fee on what was lost and came back, and the rate of the time of the repaired deal on what is above the mark", () => {
  const example = new WorkedExample("6000.00", 200_000).result("+100.00");
  expect(example.run()).toBe("20.00");
  const before = example.result("-600.00").now;
  example.change({ ratePpm: 300_000 }).repair("+600.00", before);
  expect(example.state).toMatchObject({ earned: "100.00", mark: "100.00", layers: [] });
  expect(example.run()).toBe("0.00");
  example.repair("+50.00", before);
  expect(example.pending()).toBe("10.00");
});
