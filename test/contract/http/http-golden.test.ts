import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROUTES } from "../../../services/edge/api/routes.ts";
import { type Call, testEdge } from "../../../services/edge/testing/test-edge.ts";
import type { Case } from "./case.ts";
import { CASES } from "./cases.ts";

/** `vitest run test/contract/http -u` rewrites the golden files; review the difference. */
function fileOf({ name }: Case): string {
  return join(import.meta.dirname, "golden", `${name}.json`);
}

test.for(CASES)("$name has the recorded calls to services and the recorded answer", async (one) => {
  const { name, method, url, body, answers } = one;
  const edge = await testEdge(answers);

  const answer = await edge.call({ method, url, ...(body === undefined ? {} : { payload: body as object }) });

  const response = { status: answer.status, contentType: answer.headers["content-type"], body: answer.body };
  const recorded = { request: { method, url, body }, asked: edge.calls.map(asJson), response };
  expect(answer.text, "numbers in their shortest form, members in their documented order").toBe(
    JSON.stringify(answer.body),
  );
  expect(existsSync(fileOf(one)), `${name} has no golden file`).toBe(true);
  await expect(`${JSON.stringify(recorded, undefined, 2)}\n`).toMatchFileSnapshot(fileOf(one));
});

test("every route of the HTTP interface has a golden file", () => {
  const patterns = ROUTES.map(({ method, url }) => ({
    route: `${method} ${url}`,
    covers: new RegExp(`^${url.replaceAll(/:[a-z0-9_]+/g, "[0-9a-f-]+")}$`),
  }));
  const uncovered = patterns.filter(({ route, covers }) => {
    return !CASES.some(({ method, url }) => route.startsWith(`${method} `) && covers.test(url.split("?")[0] ?? ""));
  });

  expect(uncovered.map(({ route }) => route)).toEqual([]);
  expect(CASES).toHaveLength(ROUTES.length);
});

/** Without the context, which other tests check; bigint as text, because JSON has no bigint. */
function asJson({ method, request }: Call): unknown {
  const text = JSON.stringify(request, (_name, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
  return { method, request: JSON.parse(text) };
}
