import { expect, test } from "vitest";
import { byPath, done } from "./testing/answering.ts";

async function ticksOf(answer: string) {
  const ticks = await byPath({ "tick/last": answer }).readTicks(["EURUSD", "XAUUSD"]);
  return [...ticks].map(([symbol, { at }]) => [symbol, at.toISOString()]);
}

test("the time of a price is read in milliseconds or seconds, and symbols without one are left out", async () => {
  const row = { Symbol: "EURUSD", Bid: "1.1", Datetime: "1767225600" };
  const at = "2026-01-01T00:00:00.000Z";
  expect(await ticksOf(done([row]))).toEqual([["EURUSD", at]]);
  const precise = { Symbol: "XAUUSD", Datetime: "1767225600", DatetimeMsc: "1767225600250" };
  expect(await ticksOf(done([row, precise]))).toEqual([
    ["EURUSD", at],
    ["XAUUSD", "2026-01-01T00:00:00.250Z"],
  ]);
  expect(await ticksOf(done([{ Symbol: "EURUSD" }, { Symbol: "XAUUSD", Datetime: "0" }]))).toEqual([]);
});

test("an answer that cannot be read shows no time", async () => {
  const malformed = done([{ Symbol: "EURUSD", Datetime: "soon" }]);
  for (const answer of [malformed, done("none"), done([]), '{"retcode":"8 Not enough permissions"}']) {
    expect(await ticksOf(answer), answer).toEqual([]);
  }
});

test("sessions are read as minutes of the days of a week; without them, or while a symbol is not traded, there are none", async () => {
  const day = [{ Open: "990", Close: "1380", OpenHours: "16" }];
  const cases: readonly [string, unknown][] = [
    [done({ Symbol: "X", TradeMode: "4", SessionsTrades: [[], day] }), [[], [{ open: 990, close: 1_380 }]]],
    [done({ Symbol: "X", TradeMode: "0", SessionsTrades: [[], day] }), []],
    [done({ Symbol: "X" }), []],
    [done({ Symbol: "X", SessionsTrades: [[{ Open: "early" }]] }), []],
    ['{"retcode":"13 Not found"}', []],
  ];
  for (const [answer, week] of cases) {
    expect(await byPath({ "symbol/get": answer }).readSessions("X"), answer).toEqual(week);
  }
});
