import fc from "fast-check";
import { expect, test } from "vitest";
import { anyBody } from "#test/fuzz/answers/bodies.ts";
import {
  dealMembers,
  LOGIN,
  type Members,
  positionMembers,
  text,
  userMembers,
  withDamage,
} from "#test/fuzz/answers/records.ts";
import { damaged } from "#test/fuzz/answers/sent.ts";
import { FUZZ_TIMEOUT_MS, fuzzAsync } from "#test/fuzz/support/fuzz.ts";
import type { Mt5Context } from "./context.ts";
import { findDeals, findDealsByTicket, findGroupDeals } from "./deal-batches.ts";
import { getDeal, readDeals } from "./deals.ts";
import { Mt5Error } from "./errors.ts";
import { getGroup, listGroupLogins } from "./groups.ts";
import { readPositions } from "./positions.ts";
import { zoneClock } from "./server-clock.ts";
import { contextOf } from "./testing/answering.ts";
import { getUser, getUsers } from "./users.ts";

const PERIOD = { from: new Date("2026-01-01"), to: new Date("2026-02-01") };
const CLOCKS = [zoneClock("UTC+03:00"), zoneClock("Europe/Athens")];

/** Undefined after an expected Mt5Error; any other error is a defect. */
async function answerOf<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Mt5Error) return undefined;
    throw error;
  }
}

const doneWith = (answer: string): string => Buffer.from(`{"retcode":"0 Done","answer":${answer}}`).toString("latin1");

test(
  "a read of deals returns complete, valid deals of the requested login, or fails",
  async () => {
    const rows = fc.array(withDamage(dealMembers), { minLength: 1, maxLength: 3 });
    await fuzzAsync("pages of deals", 1_000, fc.tuple(rows, fc.nat(3), fc.nat(1)), async ([list, more, zone]) => {
      const total = list.length + (more === 0 ? 1 : 0);
      const mt5 = contextOf(({ path }) => {
        if (path === "deal/get_total") return doneWith(`{"Total":"${total}"}`);
        return doneWith(path === "deal/get" ? list[0]! : `[${list.join(",")}]`);
      }, CLOCKS[zone]);
      const pages = await answerOf(readDeals(mt5, LOGIN, PERIOD));
      const batch = await answerOf(findDeals(mt5, [LOGIN], PERIOD));
      const group = await answerOf(findGroupDeals(mt5, "pamm", PERIOD, { isAskedFor: (login) => login === LOGIN }));
      const byTicket = await answerOf(findDealsByTicket(mt5, [7n]));
      const one = await answerOf(getDeal(mt5, 7n));
      const tickets = new Set(pages?.map(({ ticket }) => ticket));
      if (pages !== undefined) expect([pages.length, tickets.size]).toEqual([total, total]);
      const found = [...(pages ?? []), ...(batch ?? [])];
      if (group?.kind === "read") {
        expect(group.rows).toBe(list.length);
        expect(group.unreadable.has(LOGIN) && group.deals.length > 0).toBe(false);
        found.push(...group.deals);
      }
      expect([...(byTicket ?? [])].filter(([ticket, deal]) => ticket !== 7n || deal.ticket !== 7n)).toEqual([]);
      expect(found.filter((deal) => deal.login !== LOGIN || !isStorable(deal))).toEqual([]);
      if (one !== undefined) expect([one.ticket, isStorable(one)]).toEqual([7n, true]);
    });
  },
  FUZZ_TIMEOUT_MS,
);

const OTHERS: { what: string; members: fc.Arbitrary<Members>; read: (mt5: Mt5Context) => Promise<unknown> }[] = [
  { what: "positions", members: positionMembers, read: (mt5) => readPositions(mt5, LOGIN) },
  {
    what: "users",
    members: userMembers,
    read: async (mt5) => [await getUser(mt5, LOGIN), ...(await getUsers(mt5, [LOGIN])).values()],
  },
];

test.each(OTHERS)(
  "a read of $what returns complete, valid records, or fails",
  async ({ what, members, read }) => {
    await fuzzAsync(`records of ${what}`, 1_000, fc.tuple(withDamage(members), fc.nat(1)), async ([row, zone]) => {
      const mt5 = contextOf(({ path }) => {
        if (path.endsWith("get_total")) return doneWith('{"Total":"1"}');
        return doneWith(path.endsWith("get_page") || path.endsWith("get_batch") ? `[${row}]` : row);
      }, CLOCKS[zone]);
      const answer = await answerOf(read(mt5));
      for (const item of [answer].flat()) {
        if (item === undefined) continue;
        expect(item).toMatchObject({ login: LOGIN });
        expect(isStorable(item as object)).toBe(true);
      }
    });
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "every read fails with an Mt5Error for a malformed answer",
  async () => {
    const reads: ((mt5: Mt5Context) => Promise<unknown>)[] = [
      (mt5) => readDeals(mt5, LOGIN, PERIOD),
      (mt5) => findDeals(mt5, [LOGIN], PERIOD),
      (mt5) => findGroupDeals(mt5, "pamm", PERIOD, { isAskedFor: () => true }),
      (mt5) => findDealsByTicket(mt5, [7n]),
      (mt5) => listGroupLogins(mt5, "pamm"),
      (mt5) => getDeal(mt5, 7n),
      (mt5) => readPositions(mt5, LOGIN),
      (mt5) => getUser(mt5, LOGIN),
      (mt5) => getUsers(mt5, [LOGIN]),
      (mt5) => getGroup(mt5, "pamm\\investor"),
    ];
    const bodies = fc.oneof(damaged(anyBody), damaged(dealMembers.map((members) => doneWith(text(members)))));
    await fuzzAsync("malformed answers to reads", 500, bodies, async (body) => {
      for (const read of reads) await answerOf(read(contextOf(() => body)));
    });
  },
  FUZZ_TIMEOUT_MS,
);

const MAX_INT64 = 2n ** 63n - 1n;

/** No invalid date, and no number that the database cannot store. */
function isStorable(value: object): boolean {
  return Object.values(value).every((member) => {
    if (member instanceof Date) return !Number.isNaN(member.getTime());
    if (typeof member === "bigint") return member <= MAX_INT64 && member >= -MAX_INT64;
    return typeof member !== "number" || Number.isSafeInteger(member);
  });
}
