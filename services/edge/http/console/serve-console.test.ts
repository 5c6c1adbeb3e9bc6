import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testEdge } from "../../testing/test-edge.ts";
import { readBuild } from "./read-build.ts";
import { serveConsole } from "./serve-console.ts";

const folder = mkdtempSync(join(tmpdir(), "pamm-console-"));
let app: FastifyInstance;
beforeAll(async () => {
  mkdirSync(join(folder, "dist/assets"), { recursive: true });
  writeFileSync(
    join(folder, "dist/index.html"),
    `<script type="module" src="/console/assets/index-1a2b3c4d.js"></script>`,
  );
  writeFileSync(join(folder, "dist/assets/index-1a2b3c4d.js"), `"${"x".repeat(5_000)}"`);
  writeFileSync(join(folder, "dist/assets/notes.txt"), "not a part of the page");
  writeFileSync(join(folder, "secret.js"), "secret");
  app = Fastify();
  await app.register(serveConsole, { build: readBuild(join(folder, "dist")) ?? "none" });
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

test.each(["/console", "/console/", "/console?x=1"])("%s is the page, which is asked for each time", async (url) => {
  const { statusCode, headers } = await get(url);
  expect([statusCode, headers["content-type"], headers["cache-control"]]).toEqual([
    200,
    "text/html; charset=utf-8",
    "no-cache",
  ]);
  expect((await get(url, { "if-none-match": String(headers["etag"]) })).statusCode).toBe(304);
});

test("a file whose name has the hash of its content is kept, and compressed", async () => {
  const { headers, rawPayload } = await get("/console/assets/index-1a2b3c4d.js", { "accept-encoding": "gzip" });
  expect([headers["content-type"], headers["cache-control"], headers["content-encoding"]]).toEqual([
    "text/javascript; charset=utf-8",
    "public, max-age=31536000, immutable",
    "gzip",
  ]);
  expect(rawPayload.length).toBeLessThan(200);
});

test.each([
  "/console/assets/../../secret.js",
  "/console/../secret.js",
  "/console/assets/..%2f..%2fsecret.js",
  "/console/assets/%2e%2e/%2e%2e/secret.js",
  "/console/assets/notes.txt",
  "/console/assets/",
  "/console/assets",
  "/console/index.html",
  "/console/__proto__",
])("%s is no file of the console", async (url) => {
  const { statusCode, body } = await get(url);
  expect(statusCode).toBe(404);
  expect(body).not.toMatch(/^secret|not a part/);
});

test("every answer has the policy: nothing inline or from elsewhere, no frame, and no text that becomes HTML", async () => {
  for (const url of ["/console", "/console/assets/index-1a2b3c4d.js", "/console/nothing"]) {
    const { headers } = await get(url);
    expect([url, headers["content-security-policy"]]).toEqual([
      url,
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ]);
    expect([headers["x-frame-options"], headers["referrer-policy"], headers["set-cookie"]]).toEqual([
      "DENY",
      "no-referrer",
      undefined,
    ]);
  }
});

test("without a build the answer says how to make one", async () => {
  expect(readBuild(join(folder, "nothing"))).toBeUndefined();
  const other = Fastify();
  await other.register(serveConsole, { build: "none" });
  const { statusCode, body } = await other.inject({ url: "/console" });
  expect([statusCode, body]).toEqual([503, expect.stringContaining("make setup")]);
  await other.close();
});

test("the edge serves it without a key, and nothing on its page is inline", async () => {
  const edge = await testEdge();
  const { statusCode, headers, body } = await edge.app.inject({ url: "/console" });
  await edge.app.close();
  expect([statusCode, headers["x-content-type-options"]]).toEqual([200, "nosniff"]);
  expect(body.match(/<script(?![^>]* src="\/console\/assets\/)|<style| style=| on\w+="|"https?:|"\/\//g)).toBeNull();
});
