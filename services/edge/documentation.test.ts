import { expect, test } from "vitest";
import { PROBLEMS } from "./problems/problems.ts";
import { testEdge } from "./testing/test-edge.ts";

test("the documentation needs no key", async () => {
  const edge = await testEdge();
  const page = await edge.app.inject({ url: "/docs" });
  const script = await edge.app.inject({ url: "/docs/static/swagger-initializer.js" });

  expect([page.statusCode, page.headers["content-type"], script.statusCode]).toEqual([
    200,
    "text/html; charset=utf-8",
    200,
  ]);
  expect(page.headers["content-security-policy"]).not.toContain("upgrade-insecure-requests");
});

test("every documented code has a status, a title and no internal words", () => {
  for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
    expect([code, /^[a-z_]+$/.test(code), status >= 400 && status < 600, title.length > 0]).toEqual([
      code,
      true,
      true,
      true,
    ]);
  }
});
