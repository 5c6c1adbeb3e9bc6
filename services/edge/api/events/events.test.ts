import { expect, test } from "vitest";
import type { EventFilter, EventPage } from "../../events/store/events.ts";
import { EVENT_TYPES, readTypes } from "../../fields/event-types.ts";
import { anEvent } from "../samples/edge.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { type Scope, SCOPES } from "../../wire/scopes.ts";

const NONE: EventPage = { events: [], removedThrough: 0n, through: 0n, issuedThrough: 10_000n, hasMore: false };

const edgeThatAnswers = (...pages: readonly EventPage[]) => edgeOfKey(SCOPES, ...pages);

async function edgeOfKey(scopes: readonly Scope[], ...pages: readonly EventPage[]) {
  const asked: EventFilter[] = [];
  let looks = 0;
  const edge = await testEdge({
    scopes,
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

/** Every kind, with the scope of the route that shows its subject. */
const NEEDED: readonly [string, Scope][] = [
  ["deposit.*", "investors:read"],
  ["withdrawal.*", "investors:read"],
  ["unassign.*", "investors:read"],
  ["subscription.*", "subscriptions:read"],
  ["mirror.*", "subscriptions:read"],
  ["exit.*", "subscriptions:read"],
  ["fee.*", "fees:read"],
  ["account.*", "ops"],
  ["break.*", "ops"],
  ["review.*", "ops"],
];

test.each([...new Set(NEEDED.map(([, scope]) => scope))])(
  "a key with the scope %s reads the events of what it permits, and those alone",
  async (scope) => {
    const { get, asked } = await edgeOfKey(["events", scope], NONE);
    const own = NEEDED.filter(([, needed]) => needed === scope).map(([kind]) => kind);
    await get("");
    await get("?types=*");
    for (const filter of asked) expect(filter.types).toEqual(readTypes(own.join(",")));
    for (const [kind, needed] of NEEDED) {
      for (const types of [kind, `${own[0]},${kind}`, readTypes(kind)!.join(",")]) {
        const answer = await get(`?types=${types}`);
        if (needed === scope) {
          expect(answer.status, types).toBe(200);
          continue;
        }
        const named = types.split(",").filter((part) => !part.startsWith(`${own[0]?.split(".")[0]}.`));
        expect([answer.status, answer.body], types).toMatchObject([
          403,
          {
            code: "insufficient_scope",
            required_scope: needed,
            detail: expect.stringContaining(named.join(", ")) as string,
          },
        ]);
      }
    }
  },
);

test("each type of an event is of a kind that some scope reads", () => {
  expect(new Set(NEEDED.flatMap(([kind]) => readTypes(kind)!))).toEqual(new Set(Object.keys(EVENT_TYPES)));
});

test("a key that may read no subject reads no events", async () => {
  const { get, asked } = await edgeOfKey(["events", "funds:deposit"], NONE);
  for (const query of ["", "?types=*", "?begin=latest&wait=30"]) {
    expect((await get(query)).body).toMatchObject({ code: "insufficient_scope", required_scope: "investors:read" });
  }
  expect(asked).toEqual([]);
});
