import { expect, test } from "vitest";
import type { Outcome } from "./outcome.ts";
import { aTrade, DONE, testFunds } from "./testing.ts";
import { bookResult, closePosition, openPosition } from "./trader.ts";

const LOST: Outcome = { kind: "unknown", why: "connection lost" };
const NOT_SENT: Outcome = { kind: "not_executed", why: "ECONNREFUSED", waitMs: 0 };

test("a result whose answer was lost is booked once", async () => {
  let reads = 0;
  const funds = testFunds({ outcomes: [LOST], deals: () => ((reads += 1) > 1 ? [aTrade(5n)] : []) });

  expect(await bookResult(funds, "1", 5n)).toEqual(aTrade(5n));
  expect(funds.sent()).toBe(1);
});

test("a result that leaves no deal is booked again", async () => {
  let reads = 0;
  const funds = testFunds({ outcomes: [NOT_SENT, LOST, DONE], deals: () => ((reads += 1) > 2 ? [aTrade(5n)] : []) });

  expect(await bookResult(funds, "1", 5n)).toEqual(aTrade(5n));
  expect(funds.sent()).toBe(3);
});

test("a position whose commands lose their answers is opened once and closed once", async () => {
  const opening = testFunds({ outcomes: [LOST], positions: () => ["7"] });
  await openPosition(opening, "1", "0.1");
  let reads = 0;
  const closing = testFunds({
    outcomes: [LOST],
    positions: () => ((reads += 1) > 1 ? [] : ["7"]),
    deals: () => [aTrade(9n)],
  });
  expect(await closePosition(closing, "1")).toEqual(aTrade(9n));

  expect([opening.sent(), closing.sent()]).toEqual([1, 1]);
});
