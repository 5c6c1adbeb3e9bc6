import { expect, test } from "vitest";
import { termsFrom, WorkedExample } from "../../testing/worked-example.ts";

test("after each of two weeks with a profit the fee is charged on the profit of that week", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+1000.00");
  expect(example.pending()).toBe("300.00");
  expect(example.run()).toBe("300.00");
  expect(example.state).toEqual({ earned: "1000.00", mark: "1000.00", layers: [], balance: "10700.00" });
  example.result("+500.00");
  expect(example.pending()).toBe("150.00");
  expect(example.run()).toBe("150.00");
  expect(example.state).toEqual({ earned: "1500.00", mark: "1500.00", layers: [], balance: "11050.00" });
  expect(example.paymentAccount).toBe(450_00n);
});

test("after a loss no fee is charged until the results exceed the high-water mark", () => {
  const example = new WorkedExample("10000.00", 300_000);
  const week = (result: string) => [example.result(result).run(), example.state.earned, example.state.balance];
  expect(week("+1000.00")).toEqual(["300.00", "1000.00", "10700.00"]);
  expect(week("-600.00")).toEqual(["0.00", "400.00", "10100.00"]);
  expect(week("+400.00")).toEqual(["0.00", "800.00", "10500.00"]);
  expect(week("+500.00")).toEqual(["90.00", "1300.00", "10910.00"]);
});

test("a deposit in a drawdown does not change the mark", () => {
  const example = new WorkedExample("10000.00", 300_000).result("-2000.00").flow("+5000.00").result("+1500.00");
  expect(example.run()).toBe("0.00");
  expect(example.state).toEqual({ earned: "-500.00", mark: "0.00", layers: [], balance: "14500.00" });
  expect(example.result("+800.00").run()).toBe("90.00");
  expect(example.state).toEqual({ earned: "300.00", mark: "300.00", layers: [], balance: "15210.00" });
});

test("a partial withdrawal in profit pays the whole pending fee", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+2000.00");
  expect(example.run()).toBe("600.00");
  expect(example.flow("-5000.00").state).toEqual({
    earned: "2000.00",
    mark: "2000.00",
    layers: [],
    balance: "6400.00",
  });
  expect(example.result("+100.00").run()).toBe("30.00");
  expect(example.state.balance).toBe("6470.00");
});

test("a withdrawal of everything pays out the balance after the fee", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+2000.00");
  expect(example.run()).toBe("600.00");
  expect(example.state.balance).toBe("11400.00");
});

test("a withdrawal in a drawdown does not change the mark", () => {
  const example = new WorkedExample("10000.00", 300_000).result("-2000.00");
  expect(example.run()).toBe("0.00");
  expect(example.flow("-4000.00").result("+1200.00").run()).toBe("0.00");
  expect(example.state.earned).toBe("-800.00");
  expect(example.result("+1000.00").run()).toBe("60.00");
  expect(example.state.balance).toBe("6140.00");
});

test("after a rate change within a week each profit is charged with the rate at its time", () => {
  const example = new WorkedExample("10000.00", 200_000)
    .result("+1000.00")
    .change({ ratePpm: 300_000 })
    .result("+500.00");
  expect(example.pending()).toBe("350.00");
  example.result("-700.00");
  expect(example.run()).toBe("160.00");
  expect(example.state.balance).toBe("10640.00");
  expect(example.result("+300.00").run()).toBe("90.00");
  expect(example.state.balance).toBe("10850.00");
});

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

test("the fee of each of three Investors is rounded down once", () => {
  const parts = ["+33.34", "+33.33", "+33.33"];
  expect(parts.map((part) => new WorkedExample("1000.00", 333_333).result(part).run())).toEqual([
    "11.11",
    "11.10",
    "11.10",
  ]);
});

test("an open loss at the cut-off protects the profit that was earned last", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+1000.00");
  expect(example.run("-400.00")).toBe("180.00");
  expect(example.state).toEqual({ earned: "1000.00", mark: "600.00", layers: ["400.00"], balance: "10820.00" });
});

test("when the open loss is realised, the protected profit is never charged", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+1000.00");
  example.run("-400.00");
  expect(example.result("-400.00").run()).toBe("0.00");
  expect(example.state.earned).toBe("600.00");
  expect(example.result("+100.00").run()).toBe("30.00");
});

test("when the open loss recovers, the protected profit is charged", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+1000.00");
  example.run("-400.00");
  expect(example.result("+50.00").run()).toBe("135.00");
  expect(example.state).toEqual({ earned: "1050.00", mark: "1050.00", layers: [], balance: "10735.00" });
});

test("an open profit raises no fee", () => {
  expect(new WorkedExample("10000.00", 300_000).result("+1000.00").run("+400.00")).toBe("300.00");
});

test("fractions of a cent that are not charged are added to the next fee", () => {
  const example = new WorkedExample("10000.00", 300_000).result("+0.03");
  expect(example.run()).toBe("0.00");
  expect(example.state).toMatchObject({ earned: "0.03", mark: "0.00", layers: ["0.03"] });
  expect(example.result("+0.01").run()).toBe("0.01");
  expect(example.state).toMatchObject({ earned: "0.04", mark: "0.04", layers: [] });
});

test("an exit in profit pays the fee rounded down", () => {
  const example = new WorkedExample("5000.00", 275_000).result("+421.37");
  expect(example.run()).toBe("115.87");
  expect(example.state.balance).toBe("5305.50");
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
