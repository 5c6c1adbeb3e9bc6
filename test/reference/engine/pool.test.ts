import { expect, test } from "vitest";
import { allocate, type Deal } from "./allocate.ts";
import { centsOf, dollars } from "./cents.ts";
import { fraction, isZero, minus, ONE, over, reduced, total, ZERO } from "./fraction.ts";
import {
  arrive,
  depart,
  emptyPool,
  equityOf,
  floatingOf,
  isInDeficit,
  leave,
  type Pool,
  shareOf,
  UNIT,
} from "./pool.ts";
import { referencePool } from "./pool-engine.ts";
import { relieve, strike } from "./strike.ts";

const [I1, I2, I3] = [1n, 2n, 3n] as const;
const P = 77n;
const Q = 78n;

test("a deposit during a floating profit has no share in it", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, P);
  join(pool, I2, "550", { [String(P)]: "450" });
  expect(reduced(pool.holdings.get(I1)!.share)).toEqual(fraction(29n, 40n));
  expect(close(pool, P, "1450")).toEqual(["1175.00", "275.00"]);
  expect(cash(pool)).toEqual(["2175.00", "825.00"]);
});

test("a deposit during a floating loss has no share in it", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, P);
  join(pool, I2, "600", { [String(P)]: "-400" });
  expect(reduced(pool.holdings.get(I1)!.share)).toEqual(fraction(1n, 2n));
  close(pool, P, "0");
  expect(cash(pool)).toEqual(["800.00", "800.00"]);
});

test("rounding remainders are carried, and paid later", () => {
  const pool = poolOf({ [String(I1)]: "1000", [String(I2)]: "1000", [String(I3)]: "1000" });
  expect(result(pool, "100")).toEqual(["33.34", "33.33", "33.33"]);
  expect([...pool.holdings.values()].map(({ carry }) => reduced(carry))).toEqual([
    fraction(-2n, 3n),
    fraction(1n, 3n),
    fraction(1n, 3n),
  ]);
  expect(result(pool, "100")).toEqual(["33.33", "33.34", "33.33"]);
  expect(result(pool, "100")).toEqual(["33.33", "33.33", "33.34"]);
  expect(cash(pool)).toEqual(["1100.00", "1100.00", "1100.00"]);
  expect([...pool.holdings.values()].map(({ carry }) => reduced(carry))).toEqual([ZERO, ZERO, ZERO]);
  expect(result(pool, "100")).toEqual(["33.34", "33.33", "33.33"]);
});

test("a loss is rounded like a profit", () => {
  const pool = poolOf({ [String(I1)]: "1000", [String(I2)]: "1000", [String(I3)]: "1000" });
  expect(result(pool, "-100")).toEqual(["-33.33", "-33.33", "-33.34"]);
  expect(result(pool, "0.01")).toEqual(["0.00", "0.00", "0.01"]);
});

test("a thousand results of a cent are split in proportion to the shares", () => {
  const pool = poolOf({ [String(I1)]: "5000", [String(I2)]: "3000", [String(I3)]: "2000" });
  const winners = Array.from({ length: 1000 }, () => result(pool, "0.01").indexOf("0.01") + 1);
  expect(winners.slice(0, 10)).toEqual([1, 2, 3, 1, 1, 2, 1, 3, 2, 1]);
  expect(cash(pool)).toEqual(["5005.00", "3003.00", "2002.00"]);
});

test("a holding that has withdrawn everything has no share in later results", () => {
  const pool = poolOf({ [String(I1)]: "1000", [String(I2)]: "500" });
  depart(pool, I2, centsOf("500"));
  strike(pool, new Map());
  expect(result(pool, "0.10")).toEqual(["0.10", "0.00"]);
});

test("a holding with negative cash is covered by its floating result", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, Q);
  join(pool, I2, "550", { [String(Q)]: "-450" });
  open(pool, P);
  expect(close(pool, P, "-1200")).toEqual(["-600.00", "-600.00"]);
  expect(cash(pool)).toEqual(["400.00", "-50.00"]);
  expect(reduced(floatingOf(pool, I2, new Map([[Q, centsOf("750")]])))).toEqual(fraction(600_00n));
  expect(close(pool, Q, "750")).toEqual(["150.00", "600.00"]);
  expect(cash(pool)).toEqual(["550.00", "550.00"]);
});

test("a partial close releases its fraction of what was attributed", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, P, 4n);
  join(pool, I2, "1000", { [String(P)]: "400" });
  expect(close(pool, P, "100", { volume: 1n })).toEqual(["100.00", "0.00"]);
  expect(close(pool, P, "0", { volume: 3n })).toEqual(["125.00", "-125.00"]);
});

test("the commission of an entry is allocated like any result, and releases no attributed amount", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, P);
  join(pool, I2, "1000", { [String(P)]: "-500" });
  book(pool, { kind: "entry", positionId: P, volume: 1n, volumeClosed: 0n, result: -300n });
  expect(cash(pool)).toEqual(["999.00", "998.00"]);
});

test("a reversal closes a position and opens another", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, P, 2n);
  join(pool, I2, "1400", { [String(P)]: "400" });
  const shares = book(pool, { kind: "reversal", positionId: P, volume: 5n, volumeClosed: 2n, result: 200_00n });
  expect(shares).toEqual(["300.00", "-100.00"]);
  expect([...pool.positions]).toEqual([[P, { volume: 3n, floated: ZERO, attributed: new Map() }]]);
});

test("results without a holder, and floating results from before the first Investor, go to own capital", () => {
  const pool = emptyPool();
  result(pool, "12.34");
  open(pool, P);
  join(pool, I1, "1000", { [String(P)]: "70" });
  expect(close(pool, P, "100")).toEqual(["27.72"]);
  expect(dollars(pool.own.pooled)).toBe("84.62");
});

test("own capital shares in results beside the Investors", () => {
  for (const [amount, investor, own] of [
    ["600", "1100.00", "5500.00"],
    ["-1500", "750.00", "3750.00"],
  ] as const) {
    const pool = emptyPool();
    arrive(pool, "own", centsOf("5000"));
    strike(pool, new Map());
    join(pool, I1, "1000", {});
    result(pool, amount);
    expect([...cash(pool), dollars(pool.own.pooled)]).toEqual([investor, own]);
  }
});

test("a dealer's deposit has no share in the profit that floats, and a dealer may take more than there is", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, P);
  arrive(pool, "own", centsOf("1000"));
  strike(pool, new Map([[P, centsOf("100")]]));
  close(pool, P, "200");
  expect([...cash(pool), dollars(pool.own.pooled)]).toEqual(["1152.38", "1047.62"]);
  depart(pool, "own", centsOf("2000"));
  strike(pool, new Map());
  expect(pool.own).toMatchObject({ pooled: -952_38n, share: ZERO });
  expect(result(pool, "1")).toEqual(["1.00"]);
});

test("a pool without value is not struck while positions are open", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, P);
  join(pool, I2, "500", { [String(P)]: "-1000" });
  expect(pool.holdings.get(I2)).toMatchObject({ pooled: 0n, waiting: 500_00n, share: ZERO });
  close(pool, P, "-900");
  strike(pool, new Map());
  expect(cash(pool)).toEqual(["100.00", "500.00"]);
  expect(reduced(pool.holdings.get(I1)!.share)).toEqual(fraction(1n, 6n));
});

test("the last share of a pool is redeemed only when no position is open", () => {
  const pool = poolOf({ [String(I1)]: "100" });
  open(pool, P);
  depart(pool, I1, 100_00n);
  strike(pool, new Map([[P, 0n]]));
  expect(pool.holdings.get(I1)).toMatchObject({ pooled: 0n, unredeemed: 100_00n });
  expect(reduced(pool.holdings.get(I1)!.share)).toEqual(ONE);
  expect(close(pool, P, "-25")).toEqual(["-25.00"]);
  strike(pool, new Map());
  expect(pool.holdings.get(I1)).toMatchObject({ pooled: -25_00n, unredeemed: 0n, share: ZERO });
});

test("the carry of a leaving holding goes to the largest holder", () => {
  const pool = poolOf({ [String(I1)]: "1000", [String(I2)]: "1000", [String(I3)]: "1000" });
  result(pool, "100");
  depart(pool, I1, 1033_34n);
  strike(pool, new Map());
  leave(pool, I1);
  expect([...pool.holdings.values()].map(({ carry, share }) => [reduced(carry), reduced(share)])).toEqual([
    [fraction(-1n, 3n), fraction(1n, 2n)],
    [fraction(1n, 3n), fraction(1n, 2n)],
  ]);
});

test("shares are proportional to equity, whatever the order of flows and results was", () => {
  const pool = poolOf({ [String(I1)]: "700.13", [String(I2)]: "1234.56" });
  open(pool, P, 3n);
  join(pool, I3, "99.99", { [String(P)]: "123.45" });
  close(pool, P, "-55.55", { volume: 1n });
  depart(pool, I1, 20_00n);
  strike(pool, new Map([[P, -5_00n]]));
  const equities = [...pool.holdings.keys()].map((id) => equityOf(pool, id));
  for (const [index, { share }] of [...pool.holdings.values()].entries()) {
    expect(reduced(share)).toEqual(reduced(over(equities[index]!, total(equities))));
  }
  expect(isZero(minus(total([...pool.positions.get(P)!.attributed.values()]), fraction(-5_00n)))).toBe(true);
});

test("the broker's money raises the holdings below zero in proportion to what each lacks", () => {
  const pool = poolOf({ [String(I1)]: "1000", [String(I2)]: "500", [String(I3)]: "500" });
  result(pool, "-2000.04");
  expect(cash(pool)).toEqual(["-0.02", "-0.01", "-0.01"]);
  expect(relieve(pool, 2n)).toEqual({
    raised: [
      { owner: I1, cents: 1n },
      { owner: I2, cents: 1n },
    ],
    rest: 0n,
  });
  expect(cash(pool)).toEqual(["-0.01", "0.00", "-0.01"]);
  expect(relieve(pool, 100n)).toEqual({
    raised: [
      { owner: I1, cents: 1n },
      { owner: I3, cents: 1n },
    ],
    rest: 98n,
  });
  expect(relieve(pool, 98n)).toEqual({ raised: [], rest: 98n });
});

test("own capital below zero is raised last, and is no deficit of the pool", () => {
  const pool = poolOf({ [String(I1)]: "10" });
  depart(pool, "own", 11_00n);
  expect(isInDeficit(pool, new Map())).toBe(false);
  result(pool, "-21");
  expect([...cash(pool), dollars(pool.own.pooled), isInDeficit(pool, new Map())]).toEqual(["-11.00", "-11.00", true]);
  expect(isInDeficit(pool, new Map([[P, 11_00n]]))).toBe(false);
  expect(relieve(pool, 1n).raised).toEqual([{ owner: I1, cents: 1n }]);
});

test("while positions are open, what has floated covers cash below zero", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, Q);
  join(pool, I2, "550", { [String(Q)]: "-450" });
  open(pool, P);
  close(pool, P, "-1200");
  strike(pool, new Map([[Q, centsOf("750")]]));
  expect(relieve(pool, 100n)).toEqual({ raised: [], rest: 100n });
});

test("cash above zero that a floating loss exceeds lacks the rest", () => {
  const pool = poolOf({ [String(I1)]: "1000" });
  open(pool, Q);
  join(pool, I2, "550", { [String(Q)]: "-450" });
  result(pool, "-1200");
  expect(relieve(pool, 130_00n)).toEqual({
    raised: [
      { owner: I1, cents: 50_00n },
      { owner: I2, cents: 50_00n },
    ],
    rest: 30_00n,
  });
});

test("what is paid of an outflow costs no shares", () => {
  const pool = poolOf({ [String(I1)]: "1000", [String(I2)]: "1000" });
  open(pool, Q);
  depart(pool, I1, 500_00n);
  result(pool, "-2100");
  relieve(pool, 300_00n);
  expect(cash(pool)).toEqual(["-275.00", "-25.00"]);
  relieve(pool, 300_00n);
  result(pool, "30");
  strike(pool, new Map([[Q, 0n]]));
  expect(cash(pool)).toEqual(["15.00", "15.00"]);
  expect(reduced(shareOf(pool, I1))).toEqual(fraction(1n, 2n));
});

test("who lacks only what has left is paid in a pool with a value too, and keeps the share of what it had", () => {
  const pool = poolOf({ [String(I1)]: "1000", [String(I2)]: "1000" });
  open(pool, Q);
  depart(pool, I1, 30_00n);
  result(pool, "-1980");
  expect(relieve(pool, 10_00n)).toEqual({ raised: [{ owner: I1, cents: 10_00n }], rest: 0n });
  expect(cash(pool)).toEqual(["-10.00", "10.00"]);
  expect(relieve(pool, 25_00n)).toEqual({ raised: [{ owner: I1, cents: 10_00n }], rest: 15_00n });
  result(pool, "30");
  strike(pool, new Map([[Q, 0n]]));
  expect(cash(pool)).toEqual(["15.00", "25.00"]);
  expect(reduced(shareOf(pool, I1))).toEqual(fraction(3n, 8n));
});

test("own capital has no part of a result that it gives, and each goes on with the share of what it has", () => {
  const pool = poolOf({ [String(I1)]: "1000", [String(I2)]: "1000" });
  arrive(pool, "own", centsOf("1000"));
  strike(pool, new Map());
  const engine = referencePool(pool);
  expect(engine.give(centsOf("600"))!.map(({ cents }) => dollars(cents))).toEqual(["250.00", "250.00", "100.00"]);
  expect(engine.performance(new Map()).revaluations).toMatchObject([
    { before: fraction(2_400_00n), after: fraction(3_000_00n), result: 500_00n },
  ]);
  strike(pool, new Map());
  expect([...cash(pool), dollars(pool.own.pooled)]).toEqual(["1250.00", "1250.00", "500.00"]);
  expect([I1, I2, "own" as const].map((owner) => reduced(engine.share(owner)))).toEqual([
    fraction(5n, 12n),
    fraction(5n, 12n),
    fraction(1n, 6n),
  ]);
});

test("whole units, if shares are made of them, decide who gets the cent of equal remainders", () => {
  for (const [unit, parts] of [
    [ZERO, ["-3824.71", "-15.02"]],
    [UNIT, ["-3824.72", "-15.01"]],
  ] as const) {
    const pool = emptyPool(unit);
    arrive(pool, I1, centsOf("1500"));
    strike(pool, new Map());
    result(pool, "1049.81");
    arrive(pool, "own", centsOf("10.01"));
    strike(pool, new Map());
    const loss: Deal = { ...WITHOUT_POSITION, result: centsOf("-3839.73") };
    expect(allocate(pool, loss).map(({ cents }) => dollars(cents))).toEqual(parts);
  }
});

const WITHOUT_POSITION = { kind: "charge", positionId: 0n, volume: 0n, volumeClosed: 0n } as const;

function poolOf(capital: Readonly<Record<string, string>>): Pool {
  const pool = emptyPool();
  for (const [id, amount] of Object.entries(capital)) arrive(pool, BigInt(id), centsOf(amount));
  strike(pool, new Map());
  return pool;
}

function join(pool: Pool, id: bigint, amount: string, floating: Readonly<Record<string, string>>): void {
  arrive(pool, id, centsOf(amount));
  strike(pool, new Map(Object.entries(floating).map(([position, cents]) => [BigInt(position), centsOf(cents)])));
}

function open(pool: Pool, positionId: bigint, volume = 1n): void {
  book(pool, { kind: "entry", positionId, volume, volumeClosed: 0n, result: 0n });
}

function close(
  pool: Pool,
  positionId: bigint,
  amount: string,
  { volume = pool.positions.get(positionId)!.volume } = {},
) {
  return book(pool, { kind: "exit", positionId, volume, volumeClosed: volume, result: centsOf(amount) });
}

function result(pool: Pool, amount: string): string[] {
  return book(pool, { kind: "charge", positionId: 0n, volume: 0n, volumeClosed: 0n, result: centsOf(amount) });
}

/** What each holding was paid, in the order of their ids. */
function book(pool: Pool, deal: Deal): string[] {
  const payments = new Map(allocate(pool, deal).map(({ owner, cents }) => [owner, cents]));
  return [...pool.holdings.keys()].map((id) => dollars(payments.get(id) ?? 0n));
}

function cash(pool: Pool): string[] {
  return [...pool.holdings.values()].map(({ pooled }) => dollars(pooled));
}
