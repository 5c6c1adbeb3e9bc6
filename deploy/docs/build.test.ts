import { gunzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { DOCUMENTED_ROUTES } from "../../services/edge/api/documented-routes.ts";
import { PROBLEMS } from "../../services/edge/problems/problems.ts";
import type { TestEdge } from "../../services/edge/testing/test-edge.ts";
import { toYaml } from "./build.ts";
import { openApiDocument } from "./openapi/document.ts";
import { postmanCollection } from "./postman/collection.ts";
import type { OpenApi } from "./postman/open-api.ts";
import { edgeWithDocs } from "./testing/edge-with-docs.ts";

const document = openApiDocument(DOCUMENTED_ROUTES);
let edge: TestEdge;
beforeAll(async () => {
  edge = await edgeWithDocs();
});

const get = (url: string, headers: Record<string, string> = {}) => edge.app.inject({ url, headers });
const hrefsOf = (page: string): string[] => [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, href = ""]) => href);

/** Every page that can be reached by links from the first one, with its text. */
async function allPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const waiting = ["/docs"];
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (pages.has(url)) continue;
    const { statusCode, body, headers } = await get(url);
    expect([url, statusCode]).toEqual([url, 200]);
    pages.set(url, String(headers["content-type"]).startsWith("text/html") ? body : "");
    const links = hrefsOf(pages.get(url) ?? "").map((href) => href.replace(/#.*/, ""));
    waiting.push(...links.filter((href) => href.startsWith("/") && !pages.has(href)));
  }
  return pages;
}

test("a reader without a key reaches the guide, the reference and every problem code, and no link is broken", async () => {
  const pages = await allPages();
  const chapters = [...pages.keys()].filter((path) => path.startsWith("/docs/guide/"));

  expect([...pages.keys()]).toEqual(
    expect.arrayContaining(["/docs", "/docs/reference", "/docs/problems", "/openapi.json"]),
  );
  expect(chapters).toEqual(
    expect.arrayContaining(
      [
        "first-ten-minutes",
        "code-samples",
        "events-and-webhooks",
        "money-rules",
        "errors",
        "keys-conventions-and-limits",
        "pools-and-fees",
        "statements-and-performance",
        "testing",
      ].map((slug) => `/docs/guide/${slug}`),
    ),
  );
  for (const code of Object.keys(PROBLEMS)) expect(pages.has(`/docs/problems/${code}`), code).toBe(true);
  const broken = [...pages].flatMap(([path, page]) =>
    hrefsOf(page)
      // The places in the reference are made by the viewer.
      .filter((href) => href.includes("#") && !href.startsWith("/docs/reference#"))
      .map((href) => (href.startsWith("#") ? `${path}${href}` : href))
      .filter((href) => {
        const [target = "", anchor = ""] = href.split("#");
        return !pages.get(target)?.includes(`id="${anchor}"`);
      }),
  );
  expect(broken).toEqual([]);
});

test("the document is served as JSON and as YAML, and as a collection that the first page links", async () => {
  const [json, yaml, postman] = [
    await get("/openapi.json"),
    await get("/openapi.yaml"),
    await get("/docs/postman.json"),
  ];

  expect([json.headers["content-type"], json.json()]).toEqual(["application/json; charset=utf-8", document]);
  expect([yaml.headers["content-type"], parse(yaml.body)]).toEqual(["application/yaml; charset=utf-8", document]);
  expect([postman.headers["content-type"], postman.json()]).toEqual([
    "application/json; charset=utf-8",
    postmanCollection(document as OpenApi),
  ]);
  expect((await get("/docs")).body).toContain('href="/docs/postman.json"');
});

test("texts in YAML are quoted, and keys that YAML 1.1 reads as something else", () => {
  expect(toYaml({ a: [], b: {}, "c d": [[1, "x"], [{ e: null, yes: "no" }]], f: "two\nlines: #" })).toBe(
    'a: []\nb: {}\nc d:\n  - - 1\n    - "x"\n  - - e: null\n      "yes": "no"\nf: "two\\nlines: #"\n',
  );
});

test.each(Object.entries(PROBLEMS))("the page of %s explains it", async (code, { status, title }) => {
  const { body } = await get(`/docs/problems/${code}`);

  expect(body).toContain(`<h1><code>${code}</code></h1>`);
  expect(body).toMatch(new RegExp(`<dt>Status</dt>\\s*<dd>${status}</dd>`));
  expect(body).toContain(title.replaceAll("'", "&#39;"));
  expect(body).toMatch(/<h2>Meaning<\/h2>\s*<p>\S[^]*<h2>What to do<\/h2>\s*<p>\S/);
});

test("a page of a problem has its own members and the routes that answer it", async () => {
  const { body } = await get("/docs/problems/below_min_deposit");

  expect(body).toContain("<dd><code>required</code> (text), <code>actual</code> (text)</dd>");
  expect(body).toContain(
    '<a href="/docs/reference#tag/subscriptions/POST/api/v1/investor/assign"><code>POST /api/v1/investor/assign</code></a>',
  );
});

test("the examples are problems as they are answered, with their facts", async () => {
  const example = async (code: string): Promise<unknown> => {
    const { body } = await get(`/docs/problems/${code}`);
    const [, block = ""] = /<pre[^>]*><code>([^]*?)<\/code>/.exec(body) ?? [];
    return JSON.parse(
      block
        .replaceAll(/<[^>]+>/g, "")
        .replaceAll("&quot;", '"')
        .replaceAll("&#39;", "'"),
    );
  };

  const invalid = {
    outcome: "not_executed",
    instance: "/api/v1/investor/deposit",
    errors: [{ field: "external_id", code: "empty" }],
  };
  expect(await example("validation_failed")).toMatchObject(invalid);
  const blocked = { outcome: "not_executed", open_positions: 2, detail: expect.stringContaining("positions: 2") };
  expect(await example("master_open_positions")).toMatchObject(blocked);
  expect(await example("outcome_unknown")).toMatchObject({ outcome: "unknown", operation_id: expect.any(String) });
});

test.each([
  "/docs/problems/no_such_code",
  "/docs/guide/nothing",
  "/docs/assets/nothing",
  "/docs/assets/../site.ts",
  "/docs/__proto__",
])("%s is a page that says that there is none", async (url) => {
  const { statusCode, headers, body } = await get(url);

  expect([statusCode, headers["cache-control"]]).toEqual([404, "no-store"]);
  expect(body).toContain("Page not found");
});

test("no page has a script or style in it, or needs anything from elsewhere", async () => {
  for (const [path, page] of await allPages()) {
    expect([path, page.match(/<script(?![^>]* src="\/docs\/assets\/)|<style| style=| on\w+="/g)]).toEqual([path, null]);
    expect([path, page.match(/<(?:link|script|img|iframe)[^>]*"(?:https?:)?\/\//g)]).toEqual([path, null]);
    if (page === "") continue;
    const policy = String((await get(path)).headers["content-security-policy"]);
    expect([path, policy]).toEqual([
      path,
      expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self'/),
    ]);
    // The viewer sets style attributes.
    const others = policy.replace("; style-src-attr 'unsafe-inline'", path === "/docs/reference" ? "" : "$&");
    expect([path, others.includes("unsafe")]).toEqual([path, false]);
  }
});

test("only the styles of the viewer have a nonce, another one for each answer", async () => {
  const nonceOf = async (): Promise<string[]> => {
    const { headers, body } = await get("/docs/reference");
    const [, inPage = ""] = /property="csp-nonce" content="([\w-]{22})"/.exec(body) ?? [];
    const [, inPolicy = ""] =
      /style-src 'self' 'nonce-([\w-]{22})'/.exec(String(headers["content-security-policy"])) ?? [];
    return [inPage, inPolicy, String(headers["cache-control"])];
  };
  const [one, other] = [await nonceOf(), await nonceOf()];

  expect(one).toEqual([one[1], one[0], "no-store"]);
  expect(one[0]).not.toBe(other[0]);
});

test("pages are checked for changes, assets with the version of their content are kept, and both are compressed", async () => {
  const page = await get("/docs/guide/errors", { "accept-encoding": "gzip, br" });
  const plain = await get("/docs/guide/errors", { "accept-encoding": "gzip;q=0" });
  const [style = ""] = hrefsOf(plain.body).filter((href) => href.includes("site.css"));
  const again = await get("/docs/guide/errors", { "if-none-match": String(page.headers["etag"]) });
  const caching = async (url: string) => (await get(url)).headers["cache-control"];

  expect([page.headers["content-encoding"], page.headers["cache-control"], page.headers["vary"]]).toEqual([
    "gzip",
    "no-cache",
    "accept-encoding",
  ]);
  expect([plain.headers["content-encoding"], gunzipSync(page.rawPayload).toString()]).toEqual([undefined, plain.body]);
  expect([again.statusCode, again.body]).toEqual([304, ""]);
  expect(style).toMatch(/^\/docs\/assets\/site\.css\?v=[\w-]{16}$/);
  expect(await caching(style)).toBe("public, max-age=31536000, immutable");
  expect(await caching("/docs/assets/site.css?v=of-another-version")).toBe("no-cache");
});

test("the script of the viewer is served, and its other routes are not", async () => {
  const script = await get("/docs/assets/viewer.js", { "accept-encoding": "gzip" });

  expect([script.statusCode, script.headers["content-type"], script.headers["content-encoding"]]).toEqual([
    200,
    "text/javascript; charset=utf-8",
    "gzip",
  ]);
  expect(script.rawPayload.length).toBeLessThan(2_000_000);
  expect((await get("/viewer/")).statusCode).toBe(404);
});
