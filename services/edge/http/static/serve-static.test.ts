import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestEdge, testEdge } from "../../testing/test-edge.ts";
import type { Manifest } from "./manifest.ts";

const SCRIPT = `"${"x".repeat(5_000)}"`;
const HTML = "text/html; charset=utf-8";
const FILES: Manifest = {
  headers: { "content-security-policy": "default-src 'none'", "referrer-policy": "no-referrer" },
  files: {
    "/console": { name: "page.html", type: HTML, version: "v1", isCompressed: false },
    "/console/tab": {
      name: "tab.html",
      type: HTML,
      version: "v2",
      isCompressed: false,
      hasNonce: true,
      headers: { "content-security-policy": "style-src 'nonce-{nonce}'" },
    },
    "/console/fixed.js": { name: "s.gz", type: "text/javascript", version: "v3", isCompressed: true, isFixed: true },
    "/console/other.js": { name: "s.gz", type: "text/javascript", version: "v3", isCompressed: true },
    "/data.json": { name: "data.json", type: "application/json", version: "v4", isCompressed: false },
  },
  notFound: { name: "none.txt", type: "text/plain", version: "v5", isCompressed: false },
};

const dist = mkdtempSync(join(tmpdir(), "pamm-dist-"));
let edge: TestEdge;
beforeAll(async () => {
  mkdirSync(join(dist, "console"));
  writeFileSync(join(dist, "secret.js"), "secret");
  const texts = { "page.html": "page", "tab.html": `<meta content="{nonce}">`, "data.json": "{}", "none.txt": "none" };
  const files = { ...texts, "s.gz": gzipSync(SCRIPT), "notes.txt": "secret", "manifest.json": JSON.stringify(FILES) };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dist, "console", name), content);
  edge = await testEdge({ app: { dist } });
});
afterAll(async () => {
  await edge.app.close();
  rmSync(dist, { recursive: true });
});

const get = (url: string, headers: Record<string, string> = {}) => edge.app.inject({ url, headers });

test.each(["/console", "/console/", "/console?x=1"])("%s is the page, which is asked for each time", async (url) => {
  const { statusCode, headers, body } = await get(url);
  expect([statusCode, headers["content-type"], headers["cache-control"], headers["vary"], body]).toEqual([
    200,
    HTML,
    "no-cache",
    "accept-encoding",
    "page",
  ]);
  const again = await get(url, { "if-none-match": String(headers["etag"]) });
  expect([again.statusCode, again.body]).toEqual([304, ""]);
});

test("a file whose address changes with its content is kept, and any file with its version", async () => {
  const caching = async (url: string) => (await get(url)).headers["cache-control"];
  const forEver = "public, max-age=31536000, immutable";
  expect(await caching("/console/fixed.js")).toBe(forEver);
  expect(await caching("/console/other.js?v=v3")).toBe(forEver);
  expect(await caching("/console/other.js?v=v2")).toBe("no-cache");
  expect(await caching("/console/other.js")).toBe("no-cache");
});

test("a file is sent compressed to those who accept it", async () => {
  const compressed = await get("/console/fixed.js", { "accept-encoding": "br, gzip" });
  expect([compressed.headers["content-encoding"], compressed.rawPayload]).toEqual(["gzip", gzipSync(SCRIPT)]);
  for (const accepted of ["br", "gzip;q=0", "gzip; q=0.0, br"]) {
    const plain = await get("/console/fixed.js", { "accept-encoding": accepted });
    expect([accepted, plain.headers["content-encoding"], plain.body]).toEqual([accepted, undefined, SCRIPT]);
  }
});

test("a nonce is in the page and in its policy, another one for each answer, which no client keeps", async () => {
  const nonceOf = async (): Promise<string> => {
    const { headers, body } = await get("/console/tab");
    const [, nonce = ""] = /content="([\w-]{22})"/.exec(body) ?? [];
    expect([headers["content-security-policy"], headers["cache-control"]]).toEqual([
      `style-src 'nonce-${nonce}'`,
      "no-store",
    ]);
    return nonce;
  };
  expect(await nonceOf()).not.toBe(await nonceOf());
});

test.each([
  "/console/../secret.js",
  "/console/..%2fsecret.js",
  "/console/%2e%2e/secret.js",
  "/console/assets/../../secret.js",
  "/console/notes.txt",
  "/console/page.html",
  "/console/manifest.json",
  "/console/__proto__",
  "/console//",
])("%s is no file that is served", async (url) => {
  const { statusCode, headers, body } = await get(url);
  expect([statusCode, headers["cache-control"]]).toEqual([404, "no-store"]);
  expect(body).toMatch(/^none$|route_not_found/);
});

test("a file may have an address outside, and every answer has the headers of the folder", async () => {
  for (const url of ["/console", "/console/fixed.js", "/console/nothing", "/data.json"]) {
    const { headers } = await get(url);
    expect([url, headers]).toEqual([url, expect.objectContaining(FILES.headers)]);
    expect(headers["x-content-type-options"]).toBe("nosniff");
  }
});

test("the root leads to the documentation", async () => {
  const { statusCode, headers } = await get("/");
  expect([statusCode, headers["location"]]).toEqual([302, "/docs"]);
});

test("of a folder that is not built, the log and the answer say how to build it", async () => {
  const { statusCode, body } = await get("/docs/any");
  expect([statusCode, body]).toEqual([503, expect.stringContaining("make setup")]);
  expect(edge.lines.filter((line) => line.includes("not built"))).toEqual([
    expect.stringMatching(/"level":"warn",.*"url":"\/docs","msg":"pages not built, run make setup/),
  ]);
});

test("an edge that serves no pages has none of their addresses", async () => {
  const { app, lines } = await testEdge({ app: {} });
  for (const url of ["/", "/console", "/console/fixed.js", "/docs", "/docs/guide", "/openapi.json"]) {
    expect([url, (await app.inject({ url })).json()]).toMatchObject([url, { code: "route_not_found" }]);
  }
  expect(lines.join()).not.toContain("not built");
  await app.close();
});
