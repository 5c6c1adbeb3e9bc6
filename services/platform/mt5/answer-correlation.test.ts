import { expect, test } from "vitest";
import { HOUR_MS } from "#kernel/duration.ts";
import { createSeenTickets, hasNoDealWithComment, type HistoryReads } from "./answer-correlation.ts";
import type { Deal } from "./deals.ts";
import { Mt5Error } from "./errors.ts";

const LOGIN = "3000001";

/** A history that answers with the deals inside the asked period only, as the platform does. */
function historyOf(...deals: readonly { readonly comment: string; readonly hoursAhead: number }[]): HistoryReads {
  return {
    getDeal: async () => undefined,
    readDeals: async (_login, { from, to }) => {
      const at = (hours: number) => Date.now() + hours * HOUR_MS;
      const inside = deals.filter(({ hoursAhead: hours }) => +from <= at(hours) && at(hours) <= +to);
      return inside.map(({ comment }) => ({ comment }) as Deal);
    },
  };
}

test("a ticket is new once, and only the last 10,000 tickets are remembered", () => {
  const tickets = createSeenTickets();
  for (let ticket = 1n; ticket <= 10_000n; ticket += 1n) expect(tickets.isFirst(ticket)).toBe(true);
  expect(tickets.isFirst(1n)).toBe(false);
  expect(tickets.isFirst(10_001n)).toBe(true);
  expect(tickets.isFirst(2n)).toBe(false);
  expect(tickets.isFirst(1n)).toBe(true);
});

test.each([-20, 0, 20])(
  "a deal with the comment is found when the server's clock is %i hours ahead",
  async (hoursAhead) => {
    const history = historyOf({ comment: "PD1.1", hoursAhead });
    expect(await hasNoDealWithComment(history, { login: LOGIN, amountMinor: 1n, comment: "PD1.1" })).toBe(false);
    expect(await hasNoDealWithComment(history, { login: LOGIN, amountMinor: 1n, comment: "PD2.1" })).toBe(true);
  },
);

test("a history that cannot be read confirms nothing", async () => {
  const failing: HistoryReads = {
    ...historyOf(),
    readDeals: () => Promise.reject(new Mt5Error("lost", "no answer")),
  };
  expect(await hasNoDealWithComment(failing, { login: LOGIN, amountMinor: 1n, comment: "PD1.1" })).toBe(false);
});
