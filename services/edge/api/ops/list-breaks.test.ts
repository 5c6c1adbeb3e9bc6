import { expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import type { ListBreaksRequest, ListBreaksResponse } from "#proto/pamm/common/v1/reconciliation.ts";
import { aBreak, aCheck } from "../samples/ops.ts";
import { type Answer, testEdge, type TestOptions } from "../../testing/test-edge.ts";

type Listed = {
  items: { id: string }[];
  checks: { check: string }[];
  unreachable: string[];
  next_cursor: string | null;
  has_more: boolean;
};

const listed = ({ body }: Answer): Listed => body as Listed;

/** A service with `count` breaks, which lists at most `maxPage` at once. */
function serviceWith(count: number, maxPage = 1_000) {
  const all = Array.from({ length: count }, (_, index) => aBreak({ id: BigInt(index + 1) }));
  return {
    async listBreaks({ afterId, limit }: ListBreaksRequest): Promise<ListBreaksResponse> {
      const rest = all.filter(({ id }) => id > afterId);
      const items = rest.slice(0, Math.min(limit, maxPage));
      return { items, checks: [aCheck()], hasMore: rest.length > items.length };
    },
  };
}

const unavailable = { listBreaks: () => Promise.reject(serviceUnavailable("unavailable")) };

/** Every id, page by page. */
async function listAllPages(options: TestOptions, limit: number): Promise<string[][]> {
  const edge = await testEdge(options);
  const pages: string[][] = [];
  for (let cursor = ""; pages.length < 20;) {
    const answer = await edge.call({ method: "GET", url: `/api/v1/ops/breaks?limit=${limit}${cursor}` });
    expect(answer.status).toBe(200);
    const { items, next_cursor: next, has_more: hasMore } = listed(answer);
    pages.push(items.map(({ id }) => id));
    expect(hasMore).toBe(next !== null);
    if (next === null) return pages;
    cursor = `&cursor=${next}`;
  }
  throw new Error("the pages do not end");
}

test("breaks of all services are listed page by page, each once, for every page size of a service", async () => {
  const services = {
    platform: serviceWith(3, 2),
    subscriptions: serviceWith(0),
    fees: serviceWith(1),
    funding: serviceWith(2),
  };
  const everything = ["platform-1", "platform-2", "platform-3", "fee-1", "funding-1", "funding-2"];
  expect((await listAllPages(services, 100)).flat()).toEqual(everything);
  expect((await listAllPages(services, 2)).flat()).toEqual(everything);
  expect(await listAllPages(services, 1)).toEqual(everything.map((id) => [id]));
  expect(
    await listAllPages(
      { platform: serviceWith(0), subscriptions: serviceWith(0), fees: serviceWith(0), funding: serviceWith(0) },
      5,
    ),
  ).toEqual([[]]);
});

test("a service that cannot be reached is named, and the breaks of the others are listed", async () => {
  const services = { platform: serviceWith(1), subscriptions: unavailable, fees: serviceWith(1), funding: unavailable };
  const edge = await testEdge(services);
  const answer = await edge.call({ method: "GET", url: "/api/v1/ops/breaks" });
  const { items, checks, unreachable } = listed(answer);
  expect(answer.status).toBe(200);
  expect(items.map(({ id }) => id)).toEqual(["platform-1", "fee-1"]);
  expect(unreachable).toEqual(["subscription", "funding"]);
  expect(checks).toHaveLength(2);
});

test("when no service can be reached the request is refused, not answered with an empty list", async () => {
  const edge = await testEdge({
    platform: unavailable,
    subscriptions: unavailable,
    fees: unavailable,
    funding: unavailable,
  });
  const answer = await edge.call({ method: "GET", url: "/api/v1/ops/breaks" });
  expect(answer).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
});
