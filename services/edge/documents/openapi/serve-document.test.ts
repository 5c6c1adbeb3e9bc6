import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { testEdge } from "../../testing/test-edge.ts";

test("the document needs no key, is compressed on request, and is sent again only when it has changed", async () => {
  const { app } = await testEdge();
  const first = await app.inject({ url: "/openapi.json" });
  const compressed = await app.inject({ url: "/openapi.json", headers: { "accept-encoding": "br, gzip" } });
  const again = await app.inject({ url: "/openapi.json", headers: { "if-none-match": String(first.headers["etag"]) } });

  expect([first.statusCode, first.headers["content-type"], first.headers["cache-control"]]).toEqual([
    200,
    "application/json; charset=utf-8",
    "no-cache",
  ]);
  expect([compressed.headers["content-encoding"], gunzipSync(compressed.rawPayload).toString()]).toEqual([
    "gzip",
    first.body,
  ]);
  expect([again.statusCode, again.body]).toEqual([304, ""]);
});

test("the document is served as YAML too", async () => {
  const { app } = await testEdge();
  const json = await app.inject({ url: "/openapi.json" });
  const yaml = await app.inject({ url: "/openapi.yaml" });

  expect(yaml.headers["content-type"]).toBe("application/yaml; charset=utf-8");
  expect(parse(yaml.body)).toEqual(json.json());
});
