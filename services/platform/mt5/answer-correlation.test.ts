import { expect, test } from "vitest";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { createTicketLook, hasNoDealWithComment, type HistoryReads, ReceivedAnswers } from "./answer-correlation.ts";
import type { Deal } from "./deals.ts";
import { Mt5Error } from "./errors.ts";

const LOGIN = "3000001";

/** A history that answers with the deals inside the asked period only, as the platform does. */
function historyOf(...deals: readonly { readonly comment: string; readonly hoursAhead: number }[]): HistoryReads {
  return {
    getDeal: async () => undefined,
    findDealsByTicket: async () => new Map(),
    readDeals: async (_login, { from, to }) => {
      const at = (hours: number) => Date.now() + hours * HOUR_MS;
      const inside = deals.filter(({ hoursAhead: hours }) => +from <= at(hours) && at(hours) <= +to);
      return inside.map(({ comment }) => ({ comment }) as Deal);
    },
  };
}

test("a ticket is new once, and only the last 10,000 tickets are remembered", () => {
  const tickets = new ReceivedAnswers(false);
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

/** A session that shows these tickets, and only the first `inList` of a list. Each read is recorded. */
function sessionOf(shown: readonly bigint[], { inList = shown.length, refusesLists = false } = {}) {
  const reads: bigint[][] = [];
  const history: HistoryReads = {
    ...historyOf(),
    async getDeal(ticket) {
      reads.push([ticket]);
      await new Promise(setImmediate);
      return shown.includes(ticket) ? ({ ticket } as Deal) : undefined;
    },
    async findDealsByTicket(tickets) {
      reads.push([...tickets]);
      if (refusesLists) throw new Mt5Error("retcode", "the platform answers 3", { retcode: 3 });
      return new Map(
        shown.slice(0, inList).flatMap((ticket) => (tickets.includes(ticket) ? [[ticket, { ticket } as Deal]] : [])),
      );
    },
  };
  return { history, reads };
}

test("tickets that wait while one is looked at share one request on one of their sessions", async () => {
  const look = createTicketLook();
  const sessions = [1n, 2n, 3n, 4n].map(() => sessionOf([1n, 2n, 3n, 4n]));
  const first = look(sessions[0]!.history, 1n);
  await new Promise(setImmediate);
  const others = [2n, 3n, 4n].map((ticket, index) => look(sessions[index + 1]!.history, ticket));

  expect((await Promise.all([first, ...others])).map((deal) => deal?.ticket)).toEqual([1n, 2n, 3n, 4n]);
  expect(sessions.map(({ reads }) => reads)).toEqual([[[1n]], [[2n, 3n, 4n]], [], []]);
});

test.each([
  ["a list is cut", { inList: 1 }],
  ["lists are refused", { refusesLists: true }],
])("a ticket that a list does not show is looked at on its own session: %s", async (_what, session) => {
  const look = createTicketLook();
  const [one, two] = [sessionOf([1n, 2n], session), sessionOf([1n, 2n], session)];

  const deals = await Promise.all([look(one.history, 1n), look(two.history, 2n)]);

  expect(deals.map((deal) => deal?.ticket)).toEqual([1n, 2n]);
  expect(two.reads).toEqual([[2n]]);
});

test("the look at one ticket fails alone", async () => {
  const look = createTicketLook();
  const failing = { ...sessionOf([]).history, getDeal: () => Promise.reject(new Mt5Error("lost", "no answer")) };

  const looks = await Promise.allSettled([look(sessionOf([1n]).history, 1n), look(failing, 2n)]);

  expect(looks.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
});
