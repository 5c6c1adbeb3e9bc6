import { expect, test } from "vitest";
import { type EventFilter, type EventPage } from "../../store/events.ts";
import { anEvent } from "../../testing/replies/events.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";

const NONE: EventPage = { events: [], removedThrough: 0n, through: 0n, issuedThrough: 10_000n, hasMore: false };

async function edgeThatAnswers(...pages: readonly EventPage[]) {
  const asked: EventFilter[] = [];
  let looks = 0;
  const edge = await testEdge({
    events: {
      async read(filter) {
        asked.push(filter);
        return pages[Math.min(asked.length, pages.length) - 1] ?? NONE;
      },
      look: () => void (looks += 1),
    },
  });
  const get = (query: string) => edge.call({ method: "GET", url: `/api/v1/events${query}` });
  return { get, asked, looks: () => looks };
}

test("without a position events are read from the oldest one, also when older ones are removed", async () => {
  const { get, asked } = await edgeThatAnswers({ ...NONE, events: [anEvent()], removedThrough: 900n, through: 1_024n });
  const { status, body } = await get("");
  expect([status, body]).toMatchObject([200, { items: [{ id: 1024, type: "deposit.executed" }], next_cursor: 1024 }]);
  expect(asked).toEqual([{ after: 0n, types: undefined, limit: 100 }]);
});

test("a position before what is kept is refused with the highest removed id, and one at it is not", async () => {
  const { get } = await edgeThatAnswers({ ...NONE, removedThrough: 900n, through: 900n });
  expect((await get("?after=899&wait=30")).body).toMatchObject({
    status: 410,
    code: "events_removed",
    removed_through: 900,
  });
  expect((await get("?after=0")).body).toMatchObject({ code: "events_removed" });
  expect((await get("?after=900")).body).toEqual({ items: [], next_cursor: 900, has_more: false });
});

test("a position that no event has had is refused at once, also with a time to wait", async () => {
  const { get, asked } = await edgeThatAnswers({ ...NONE, through: 7n, issuedThrough: 9n });
  const answer = await get("?after=10&wait=30");

  expect([answer.status, errorsOf(answer)]).toEqual([422, [["after", "invalid_cursor"]]]);
  expect(asked).toHaveLength(1);
  expect((await get("?after=9")).body).toMatchObject({ items: [] });
});

test("types are names or kinds, and unknown ones are refused", async () => {
  const { get, asked } = await edgeThatAnswers(NONE);
  await get("?types=exit.*,fee.executed,exit.pending");
  expect(asked[0]?.types).toEqual(["exit.pending", "exit.executed", "exit.not_executed", "fee.executed"]);
  for (const types of ["deposit", "deposit.*,", "deposit.done", "deposit.executed deposit.pending"]) {
    const answer = await get(`?types=${encodeURIComponent(types)}`);
    expect([types, answer.status, errorsOf(answer)]).toEqual([types, 422, [["types", "malformed"]]]);
  }
});

test("a waiting caller is answered when there is an event, and has the services asked meanwhile", async () => {
  const { get, asked, looks } = await edgeThatAnswers(NONE, NONE, { ...NONE, events: [anEvent()], through: 1_024n });
  const { body } = await get("?after=5&wait=20");
  expect(body).toMatchObject({ items: [{ id: 1024 }] });
  expect(asked).toHaveLength(3);
  expect(looks()).toBe(3);
});

test("a reader begins after the newest event, without reading those before; a position counts more", async () => {
  const { get, asked } = await edgeThatAnswers({ ...NONE, through: 1_024n });
  expect((await get("?begin=latest&types=deposit.*")).body).toEqual({ items: [], next_cursor: 1_024, has_more: false });
  expect(asked.map(({ after, types }) => [after, types?.length])).toEqual([
    [0n, 0],
    [1_024n, 5],
  ]);
  await get("?begin=latest&after=7");
  expect(asked.slice(2)).toEqual([{ after: 7n, types: undefined, limit: 100 }]);
});
