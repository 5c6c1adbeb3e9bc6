import { beforeEach, expect, test } from "vitest";
import { centsOf, dollars } from "./cents.ts";
import { sumOf } from "./fee.ts";
import { closeWeek } from "./fees.ts";
import { fraction, show } from "./fraction.ts";
import {
  archive,
  assign,
  charge,
  configure,
  deposit,
  type Exit,
  restore,
  unassign,
  type Withdrawal,
  withdraw,
} from "./investing.ts";
import { repair } from "./repair.ts";
import { age, compensateStopOut, mark, realise, trade } from "./trading.ts";
import { earnAsAgent, moveOwn, shownOf } from "./own-capital.ts";
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

test("a stop-out is compensated first where money is missing, and who deposits meanwhile pays for nothing", () => {
  begin("1000", "0.30");
  begin("1000", "0.30", two);
  result("-2500");
  expect(balances()).toEqual(["0.00", "0.00"]);
  expect([one!, two!].map(({ unposted }) => dollars(unposted))).toEqual(["-250.00", "-250.00"]);
  deposit(world, two!, centsOf("300"));
  expect([...balances(), dollars(master.balance)]).toEqual(["0.00", "300.00", "-500.00"]);
  compensateStopOut(world, master, centsOf("500"));
  expect([...balances(), dollars(master.balance)]).toEqual(["0.00", "300.00", "300.00"]);
  expect(accountOf(master, one!).gained).toBe(-1250_00n);
  expect(unassign(world, one!)).toEqual({ amount: 0n });
  expect(unassign(world, two!)).toEqual({ amount: -300_00n });
});

test("money that waits for the end of a deficit can be withdrawn, and pays no loss", () => {
  begin("1000", "0.30");
  result("-1250");
  deposit(world, one!, centsOf("300"));
  expect(answer(withdraw(world, one!, centsOf("120")))).toMatchObject({ before: "300.00", effective: "120.00" });
  result("100");
  expect([dollars(one!.balance), dollars(one!.unposted)]).toEqual(["180.00", "-150.00"]);
  result("150");
  expect([one!.balance, one!.unposted, master.balance].map(dollars)).toEqual(["180.00", "0.00", "180.00"]);
});

test("what a compensation leaves is a result, charged as any", () => {
  begin("1000", "0.30");
  begin("1000", "0.30", two);
  result("-2500");
  compensateStopOut(world, master, centsOf("5500"));
  expect(balances()).toEqual(["2500.00", "2500.00"]);
  expect(state()).toMatchObject({ gained: "1250.00", layers: "1250.000000" });
});

test("a repair goes to those that had the loss, and what was lost and came back is not charged", () => {
  begin("6000", "0.30");
  begin("4000", "0.30", two);
  result("-1000");
  const [tickResult] = master.results;
  moveOwn(world, master, centsOf("1000"));
  tick();
  repair(world, master, tickResult);
  expect(balances()).toEqual(["6000.00", "4000.00"]);
  expect(week()).toBe("0.00");
  expect(state()).toMatchObject({ gained: "0.00", layers: "0.000000" });
  expect(shownOf(master).quarantined).toBe(0n);
});

test("a repair has the shares and the rate of the result that it repairs, also of Investors that have left since", () => {
  begin("6000", "0.20");
  begin("4000", "0.30", two);
  result("-1000");
  const [tickResult] = master.results;
  unassign(world, two!);
  begin("9000", "0.30", three);
  rate("0.50");
  moveOwn(world, master, centsOf("1500"));
  repair(world, master, tickResult);
  expect(balances()).toEqual(["6300.00", "4200.00", "9000.00"]);
  expect(dollars(master.balance)).toBe("15300.00");
  expect(week()).toBe("60.00");
});

test("after a repair the shares are what they would be without the loss", () => {
  begin("6000", "0.30");
  begin("4000", "0.30", two);
  result("-1000");
  const [tickResult] = master.results;
  begin("9000", "0.30", three);
  moveOwn(world, master, centsOf("1000"));
  result("200");
  expect(dollars(shownOf(master).quarantined)).toBe("1010.53");
  repair(world, master, tickResult);
  expect(balances()).toEqual(["6063.16", "4042.10", "9094.74"]);
  result("192");
  expect(balances()).toEqual(["6123.79", "4082.53", "9185.68"]);
});

test("a repair takes nothing from who has left, and gives who is elsewhere a deposit there", () => {
  begin("6000", "0.30");
  begin("4000", "0.30", two);
  result("1000");
  result("-1000");
  const [won, lost] = master.results;
  unassign(world, two!);
  moveOwn(world, master, centsOf("-1000"));
  expect(repair(world, master, won)).toBe(true);
  expect([...balances(), dollars(shownOf(master).quarantined)]).toEqual(["5400.00", "4000.00", "-400.00"]);
  const other = addMaster(world, "M2");
  assign(world, two!, other, { ratePpm: 0n, enabled: true });
  moveOwn(world, master, centsOf("1400"));
  repair(world, master, lost);
  expect([...balances(), dollars(other.balance)]).toEqual(["6000.00", "4400.00", "4400.00"]);
});

test("a repair that names no result is one of now", () => {
  begin("6000", "0.30");
  begin("4000", "0.30", two);
  result("-1000");
  begin("9000", "0.30", three);
  moveOwn(world, master, centsOf("1000"));
  repair(world, master);
  expect(balances()).toEqual(["5700.00", "3800.00", "9500.00"]);
});

test("what an agent earns is own capital that is acknowledged by rule", () => {
  begin("1000", "0.30");
  earnAsAgent(world, master, centsOf("500"));
  expect(balances()).toEqual(["1000.00"]);
  expect(shownOf(master)).toEqual({ quarantined: 0n, own: 500_00n });
  moveOwn(world, master, centsOf("100"));
  expect(shownOf(master).quarantined).toBeGreaterThan(0n);
});

test("nothing is struck at an old tick", () => {
  begin("100000", "0.30");
  trade(world, master, { kind: "entry", positionId: 5n, volume: 10n, volumeClosed: 0n, result: 0n });
  mark(world, master, 5n, 0n);
  age(master, 5n);
  begin("100000", "0.30", two);
  expect(master.pool.cash(2n)).toMatchObject({ pooled: 0n, waiting: 100_000_00n });
  mark(world, master, 5n, centsOf("10000"));
  trade(world, master, { kind: "exit", positionId: 5n, volume: 10n, volumeClosed: 10n, result: centsOf("10000") });
  expect(balances()).toEqual(["110000.00", "100000.00"]);
});

test("an account that vanishes with 0.00 changes nothing for others", () => {
  begin("1000", "0.30");
  begin("1000", "0.30", two);
  withdraw(world, one!, centsOf("1000"));
  expect([archive(world, one!), archive(world, two!)]).toEqual([true, false]);
  result("10");
  expect(balances()).toEqual(["0.00", "1010.00"]);
  expect(deposit(world, one!, 1n)).toEqual({ refused: "account_archived" });
  restore(world, one!);
  deposit(world, one!, 1_010_00n);
  result("10");
  expect(balances()).toEqual(["1015.00", "1015.00"]);
  withdraw(world, one!, centsOf("2000"));
  archive(world, one!);
  expect(unassign(world, one!)).toEqual({ amount: 0n });
  expect(assign(world, one!, master, { ratePpm: 0n, enabled: true })).toEqual({ refused: "account_archived" });
});

test("an adopted charge lowers the share of its Investor in later results", () => {
  begin("1000", "0.30");
  begin("1000", "0.30", two);
  charge(world, one!, centsOf("15"));
  result("200");
  expect(one!.parts.map(({ cents }) => dollars(cents))).toEqual(["99.24"]);
  expect(balances()).toEqual(["1084.24", "1100.76"]);
  expect(dollars(master.balance)).toBe("2185.00");
});

/** Of the Investors that have had money. */
function balances(): string[] {
  return world.investors.filter(({ journal }) => journal.length > 0).map(({ balance }) => dollars(balance));
}

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
  mark(world, master, 1_000n, -400_00n);
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
