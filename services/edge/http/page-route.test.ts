import { expect, test } from "vitest";
import { DOCUMENTED_ROUTES } from "../api/documented-routes.ts";
import { type DocumentedRoute, requestOf } from "../api/exchange.ts";
import { errorsOf, type EdgeAnswers, testEdge } from "../testing/test-edge.ts";

const PAGES = DOCUMENTED_ROUTES.filter(({ query }) => JSON.stringify(query?.properties["cursor"])?.includes("Opaque"));
/** Parameters with which a list has the same items. */
const NO_FILTERS = ["limit", "cursor", "wait", "format"];
/** Of a filter whose example the exchange sends. */
const OTHERS: Readonly<Record<string, string>> = {
  login: "3000009",
  datetime: "2026-01-15T00:00:00",
  external_id: "other",
  comment_filter: "other",
};

type Reply = (...given: readonly unknown[]) => unknown;

/** Where the services have answered with items, they have more of them. */
function withMore(services: object): EdgeAnswers {
  const more =
    (reply: Reply) =>
    async (...given: readonly unknown[]) => {
      const answer = (await reply(...given)) as { items?: readonly unknown[]; hasMore?: boolean };
      return "hasMore" in answer && answer.items?.length !== 0 ? { ...answer, hasMore: true } : answer;
    };
  const all = Object.entries(services as Readonly<Record<string, Readonly<Record<string, Reply>>>>);
  return Object.fromEntries(
    all.map(([name, methods]) => [
      name,
      Object.fromEntries(Object.entries(methods).map(([one, reply]) => [one, more(reply)])),
    ]),
  );
}

type Field = { enum?: string[]; default?: string; examples: string[]; "x-check"?: string };

/** A valid value that the first exchange does not have. */
function otherValue({ query, exchanges: [{ request }] }: DocumentedRoute, name: string): string {
  const fields = (query?.properties ?? {}) as Readonly<Record<string, Field>>;
  const { [name]: schema } = fields;
  const { [name]: sent } = request.query ?? {};
  if (name === "wait") return "0";
  if (schema?.enum !== undefined) return schema.enum.find((value) => value !== (sent ?? schema.default)) ?? "";
  return sent === undefined ? String(schema?.examples[0]) : (OTHERS[schema?.["x-check"] ?? ""] ?? "");
}

test.each(PAGES)("a cursor of $operationId goes on behind its page, of the same list alone", async (route) => {
  const [{ request, services }] = route.exchanges;
  const { call, calls } = await testEdge(withMore(services));
  const get = async (query: Readonly<Record<string, string>>, path = request.params ?? {}) => {
    calls.length = 0;
    const { url } = requestOf(route, { request: { params: path, query: { ...request.query, ...query } } } as never);
    const answer = await call({ url });
    const asked = JSON.stringify(calls, (key, value) =>
      key === "context" ? "" : typeof value === "bigint" ? `${value}` : value,
    );
    return { ...answer, asked };
  };
  const first = await get({});
  const { next_cursor: cursor, has_more: hasMore } = first.body as { next_cursor: string; has_more: boolean };
  expect(hasMore).toBe(true);
  const second = await get({ cursor });
  expect([second.status, second.asked !== first.asked]).toEqual([200, true]);

  const refused = async (query: Readonly<Record<string, string>>, path?: Readonly<Record<string, string>>) =>
    errorsOf(await get({ ...query, cursor }, path)).some(
      ([field, code]) => field === "cursor" && code === "invalid_cursor",
    );
  for (const name of Object.keys(route.query?.properties ?? {})) {
    if (name === "cursor") continue;
    expect([name, await refused({ [name]: otherValue(route, name) })]).toEqual([name, !NO_FILTERS.includes(name)]);
  }
  if (request.params !== undefined) {
    expect(await refused({}, Object.fromEntries(Object.keys(request.params).map((name) => [name, "3000009"])))).toBe(
      true,
    );
  }
  const other = PAGES.find((page) => page.url !== route.url && page.exchanges[0].request.params === undefined)!;
  expect(errorsOf(await call({ url: `${other.url}?cursor=${cursor}` }))).toContainEqual(["cursor", "invalid_cursor"]);
});

test.each(PAGES)("a cursor of $operationId is checked also when every other parameter is invalid", async (route) => {
  const edge = await testEdge();
  const query = Object.keys(route.query?.properties ?? {}).map((name) => `${name}=%00`);
  const answer = await edge.call({ url: `${route.url.replaceAll(/:\w+/g, "x")}?${query.join("&")}` });

  expect([answer.status, errorsOf(answer)]).toEqual([
    422,
    expect.arrayContaining([
      ["limit", "malformed"],
      ["cursor", "invalid_cursor"],
    ]),
  ]);
});
