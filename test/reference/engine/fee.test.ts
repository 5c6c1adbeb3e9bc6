import { beforeEach, expect, test } from "vitest";
import { centsOf, dollars } from "./cents.ts";
import { sumOf } from "./fee.ts";
import { closeWeek } from "./fees.ts";
import { fraction, show } from "./fraction.ts";
import { assign, configure, deposit, type Exit, unassign, type Withdrawal, withdraw } from "./investing.ts";
import { mark, realise, trade } from "./trading.ts";
import { accountOf, addMaster, type Investor, type Master, newWorld, type World } from "./world.ts";

const HOUR_MS = 3_600_000;

let world: World;
let master: Master;
let [one, two, three]: Investor[] = [];
let positions = 0n;

beforeEach(() => {
  world = newWorld({ investors: 3, masters: 1, now: Date.UTC(2026, 0, 5) });
  master = world.masters[0]!;
  [one, two, three] = world.investors;
});

test("each of two winning weeks is charged for its own profit", () => {
  begin("10000", "0.30");
  result("1000");
  expect(week()).toBe("300.00");
  expect(state()).toEqual({ balance: "10700.00", gained: "1000.00", highWaterMark: "1000.000000", layers: "0.000000" });
  result("500");
  expect(week()).toBe("150.00");
  expect(state()).toMatchObject({ balance: "11050.00", highWaterMark: "1500.000000" });
  expect(dollars(master.paymentBalance)).toBe("450.00");
  expect(master.balance).toBe(one!.balance);
});

test("after a loss only profit above the high-water mark is charged", () => {
  begin("10000", "0.30");
  expect(["1000", "-600", "400", "500"].map(weekWith)).toEqual(["300.00", "0.00", "0.00", "90.00"]);
  expect(state()).toMatchObject({ balance: "10910.00", gained: "1300.00", highWaterMark: "1300.000000" });
});

test("a deposit in a drawdown does not change the high-water mark", () => {
  begin("10000", "0.30");
  result("-2000");
  deposit(world, one!, centsOf("5000"));
  expect(weekWith("1500")).toBe("0.00");
  expect(state()).toMatchObject({ balance: "14500.00", gained: "-500.00" });
  expect(weekWith("800")).toBe("90.00");
  expect(state()).toMatchObject({ balance: "15210.00", highWaterMark: "300.000000" });
});

test("a withdrawal in profit takes the whole pending fee", () => {
  begin("10000", "0.30");
  result("2000");
  expect(answer(withdraw(world, one!, centsOf("5000")))).toEqual({
    before: "12000.00",
    pending: "600.00",
    available: "11400.00",
    requested: "5000.00",
    effective: "5000.00",
  });
  expect(state()).toMatchObject({ balance: "6400.00", highWaterMark: "2000.000000" });
  expect([master.balance, master.paymentBalance].map(dollars)).toEqual(["6400.00", "600.00"]);
  expect(weekWith("100")).toBe("30.00");
  expect(state()).toMatchObject({ balance: "6470.00" });
});

test("a withdrawal is limited to the balance less the fee", () => {
  begin("10000", "0.30");
  result("2000");
  expect(answer(withdraw(world, one!, centsOf("12000")))).toMatchObject({ effective: "11400.00" });
  expect(state()).toMatchObject({ balance: "0.00" });
  expect(world.subscriptions[0]!.isActive).toBe(true);
});

test("a withdrawal in a drawdown does not lower the high-water mark", () => {
  begin("10000", "0.30");
  result("-2000");
  expect(answer(withdraw(world, one!, centsOf("4000")))).toMatchObject({ pending: "0.00", effective: "4000.00" });
  expect(state()).toMatchObject({ balance: "4000.00", gained: "-2000.00" });
  expect(weekWith("1200")).toBe("0.00");
  expect(weekWith("1000")).toBe("60.00");
  expect(state()).toMatchObject({ balance: "6140.00" });
});

test("each result is charged at the rate of its own time", () => {
  begin("10000", "0.20");
  result("1000");
  rate("0.30");
  result("500");
  expect(week()).toBe("350.00");
});

test("a loss removes the latest profit first", () => {
  begin("10000", "0.20");
  result("1000");
  rate("0.30");
  result("500");
  result("-700");
  expect(week()).toBe("160.00");
  expect(state()).toMatchObject({ balance: "10640.00" });
  expect(weekWith("300")).toBe("90.00");
  expect(state()).toMatchObject({ balance: "10850.00" });
});

test("profit earned while fees are disabled is never charged, and a loss of that time is recovered first", () => {
  begin("10000", "0.30");
  result("400");
  enable(false);
  expect(weekWith("600")).toBe("0.00");
  expect(answer(withdraw(world, one!, centsOf("0.01")))).toMatchObject({ pending: "0.00" });
  deposit(world, one!, 1n);
  enable(true);
  expect(weekWith("200")).toBe("180.00");
  expect(state()).toMatchObject({ balance: "11020.00", highWaterMark: "1200.000000" });
  enable(false);
  result("-300");
  enable(true);
  expect(weekWith("200")).toBe("0.00");
  expect(state()).toMatchObject({ balance: "10920.00", gained: "1100.00" });
  expect(weekWith("150")).toBe("15.00");
  expect(state()).toMatchObject({ balance: "11055.00" });
});

test("the fee of each of three Investors is rounded down separately", () => {
  for (const investor of [one!, two!, three!]) begin("1000", "0.333333", investor);
  result("100");
  closeWeek(world, master);
  expect(master.payments.map(({ cents }) => dollars(cents))).toEqual(["11.11", "11.10", "11.10"]);
  expect([master.balance, master.paymentBalance].map(dollars)).toEqual(["3066.69", "33.31"]);
});

test("an open loss lowers the fee, and is not charged again when it is realised", () => {
  openLoss();
  close("-400");
  expect(week()).toBe("0.00");
  expect(state()).toMatchObject({ gained: "600.00" });
  expect(weekWith("100")).toBe("30.00");
});

test("profit offset by an open loss is charged when the loss recovers", () => {
  openLoss();
  close("50");
  expect(week()).toBe("135.00");
  expect(state()).toMatchObject({ balance: "10735.00", highWaterMark: "1050.000000" });
});

test("each week is decided as of its own end", () => {
  begin("10000", "0.25");
  expect(["800", "-500"].map(weekWith)).toEqual(["200.00", "0.00"]);
});

test("a fee below a cent is charged when it has become a cent", () => {
  begin("10000", "0.30");
  expect(weekWith("0.03")).toBe("0.00");
  expect(state()).toMatchObject({ highWaterMark: "0.000000" });
  expect(weekWith("0.01")).toBe("0.01");
  expect(state()).toMatchObject({ highWaterMark: "0.040000" });
});

test("an unassign in profit takes the fee first", () => {
  begin("5000", "0.275");
  result("421.37");
  expect(dollars((unassign(world, one!) as Exit).amount)).toBe("-5305.50");
  expect([one!.balance, master.balance, master.paymentBalance].map(dollars)).toEqual(["5305.50", "0.00", "115.87"]);
});

test("a rate from a past date applies to profit that is not charged yet", () => {
  begin("10000", "0.20");
  result("1000");
  const between = world.now;
  result("1000");
  week();
  result("500");
  configure(world, one!, { at: tick(), ratePpm: 500_000n, since: between });
  expect(week()).toBe("250.00");
});

test("a scheduled rate is valid from its instant, whatever is changed before, unless it is cancelled", () => {
  begin("10000", "0.20");
  const since = tick() + 4 * HOUR_MS;
  configure(world, one!, { at: world.now, ratePpm: 500_000n, since });
  result("100");
  rate("0.10");
  result("100");
  result("100");
  expect(week()).toBe("80.00");
  const at = tick();
  configure(world, one!, { at, ratePpm: 900_000n, since: at + HOUR_MS });
  configure(world, one!, { at, kind: "cancellation", since: at + HOUR_MS });
  expect(weekWith("100")).toBe("50.00");
});

test("the start that is stored, sent back, is now", () => {
  begin("10000", "0.10");
  const { at } = one!.configuration[0]!;
  result("100");
  configure(world, one!, { at: tick(), ratePpm: 500_000n, since: at });
  expect(weekWith("100")).toBe("60.00");
});

test("a fee that cannot be taken becomes debt, and debt is paid first, to its own Master", () => {
  begin("1000", "0.50");
  result("400");
  enable(false);
  withdraw(world, one!, centsOf("1390"));
  enable(true);
  expect(week()).toBe("10.00");
  expect(one!.owed).toEqual(new Map([[master, 190_00n]]));

  unassign(world, one!);
  const other = addMaster(world, "M2");
  deposit(world, one!, centsOf("1000"));
  assign(world, one!, other, { ratePpm: 500_000n, enabled: true });
  positions += 1n;
  realise(world, other, positions, centsOf("10"));
  expect(answer(withdraw(world, one!, centsOf("5000")))).toEqual({
    before: "1010.00",
    pending: "195.00",
    available: "815.00",
    requested: "5000.00",
    effective: "815.00",
  });
  expect([master, other].map(({ paymentBalance }) => dollars(paymentBalance))).toEqual(["200.00", "5.00"]);
  expect(master.payments.map(({ suffix }) => suffix)).toEqual(["W", "DEBT"]);
});

function begin(capital: string, perFee: string, investor = one!): void {
  deposit(world, investor, centsOf(capital));
  assign(world, investor, master, { ratePpm: ppm(perFee), enabled: true });
}

function tick(): number {
  world.now += HOUR_MS;
  return world.now;
}

function result(amount: string): void {
  tick();
  positions += 1n;
  realise(world, master, positions, centsOf(amount));
}

function rate(value: string): void {
  configure(world, one!, { at: tick(), ratePpm: ppm(value) });
}

function enable(enabled: boolean): void {
  configure(world, one!, { at: tick(), enabled });
}

/** Returns what the first Investor paid. */
function week(): string {
  tick();
  const before = one!.balance;
  closeWeek(world, master);
  return dollars(before - one!.balance);
}

function weekWith(amount: string): string {
  result(amount);
  return week();
}

function openLoss(): void {
  begin("10000", "0.30");
  result("1000");
  tick();
  trade(world, master, { kind: "entry", positionId: 1_000n, volume: 1n, volumeClosed: 0n, result: 0n });
  mark(master, 1_000n, -400_00n);
  expect(week()).toBe("180.00");
  expect(state()).toEqual({
    balance: "10820.00",
    gained: "1000.00",
    highWaterMark: "600.000000",
    layers: "400.000000",
  });
}

function close(amount: string): void {
  tick();
  trade(world, master, { kind: "exit", positionId: 1_000n, volume: 1n, volumeClosed: 1n, result: centsOf(amount) });
}

function state() {
  const account = accountOf(master, one!);
  const inDollars = fraction(1n, 100n);
  return {
    balance: dollars(one!.balance),
    gained: dollars(account.gained),
    highWaterMark: show({
      numerator: account.highWaterMark.numerator * inDollars.numerator,
      denominator: account.highWaterMark.denominator * inDollars.denominator,
    }),
    layers: show({
      numerator: sumOf(account.layers).numerator,
      denominator: sumOf(account.layers).denominator * inDollars.denominator,
    }),
  };
}

function answer(withdrawal: Withdrawal | object) {
  return Object.fromEntries(Object.entries(withdrawal).map(([name, cents]) => [name, dollars(cents as bigint)]));
}

function ppm(text: string): bigint {
  return BigInt(Math.round(Number(text) * 1_000_000));
}
