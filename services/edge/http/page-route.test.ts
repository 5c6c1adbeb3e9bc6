import { expect, test } from "vitest";
import { ROUTES } from "../api/routes.ts";
import { errorsOf, testEdge } from "../testing/test-edge.ts";

const PAGES = ROUTES.filter(({ query }) => JSON.stringify(query?.properties["cursor"])?.includes("Opaque"));

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
