import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sized } from "#test/support/proof.ts";
import { type Browser, type BrowserPage, findChromium, startChromium } from "#test/support/chromium.ts";
import type { IdempotencyStore } from "../../../services/edge/http/idempotency/idempotency-store.ts";
import type { Route } from "../../../services/edge/http/route.ts";
import { DOCUMENTED_ROUTES } from "../../../services/edge/api/documented-routes.ts";
import { aDeposit } from "../../../services/edge/api/samples/funding.ts";
import { TEST_KEY, type TestEdge } from "../../../services/edge/testing/test-edge.ts";
import { edgeWithDocs } from "../testing/edge-with-docs.ts";

const chromium = findChromium();
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The viewer is five megabytes of script; on a busy machine its first page takes long. */
const SHOWN_WITHIN_MS = 60_000;
const TEST_TIMEOUT_MS = 180_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SCHEMES = ["light", "dark"] as const;
const GROUNDS = { light: "rgb(255, 255, 255)", dark: "rgb(18, 23, 29)" };
const PAGES = [
  "/docs",
  "/docs/guide/code-samples",
  "/docs/guide/errors",
  "/docs/problems",
  "/docs/problems/outcome_unknown",
];

const place = ({ method, url }: Pick<Route, "method" | "url">): string =>
  `/${method}${url.replaceAll(/:(\w+)/g, "{$1}")}`;

async function until(page: BrowserPage, expression: string): Promise<void> {
  await expect
    .poll(() => page.evaluate<boolean>(`Boolean(${expression})`), { timeout: SHOWN_WITHIN_MS, message: expression })
    .toBe(true);
}

async function click(page: BrowserPage, selector: string, text: string): Promise<void> {
  const wanted = `(one) => one.textContent.includes(${JSON.stringify(text)})`;
  const found = `[...document.querySelectorAll(${JSON.stringify(selector)})].find(${wanted})`;
  await until(page, `((found) => (found?.click(), found))(${found})`);
}

async function openReference(page: BrowserPage, url: string, fragment = ""): Promise<void> {
  await page.goto(`${url}/docs/reference${fragment}`);
  await until(page, "document.querySelector('#reference h1')");
}

async function tryIt(page: BrowserPage, operation: string): Promise<void> {
  await until(page, "document.querySelector('input[placeholder=Token]')");
  await page.evaluate("document.querySelector('input[placeholder=Token]').focus()");
  await page.type(TEST_KEY);
  await click(page, ".show-api-client-button", operation);
  await click(page, "button", "Send Request");
}

async function expectReadable(page: BrowserPage): Promise<void> {
  await until(page, `[...document.querySelectorAll("section[id]")].some(({ id }) => id.endsWith("investor/deposit"))`);
  const pale = `axe.run(document, { runOnly: ["color-contrast"], resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ nodes }) => nodes.map(({ html, any }) => html.slice(0, 120) + any[0]?.message)))`;
  await page.evaluate(`${AXE};0`);
  expect(await page.evaluate(pale)).toEqual([]);
}

async function expectClosable(page: BrowserPage): Promise<void> {
  await click(page, ".show-api-client-button", "/api/v1/investor/deposit");
  await until(page, "document.querySelector('.scalar-client--open')");
  expect(await page.evaluate("getComputedStyle(document.querySelector('.bar')).visibility")).toBe("hidden");
  await page.evaluate("document.querySelector('.scalar-app-exit').click()");
  await until(page, "getComputedStyle(document.querySelector('.bar')).visibility === 'visible'");
}

type Shown = { readonly path: string; readonly scheme: (typeof SCHEMES)[number] };

async function expectToFit(page: BrowserPage, { path, scheme }: Shown): Promise<void> {
  const widest = async (width: number) => {
    await page.emulate({ width, height: 844, scheme });
    return await page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  };
  expect([path, await widest(390), await widest(1280)]).toEqual([path, 0, 0]);
  expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(GROUNDS[scheme]);
}

describe.skipIf(chromium === undefined)(
  "in a Chromium, where the machine has one,",
  { timeout: TEST_TIMEOUT_MS },
  () => {
    const keys: string[] = [];
    const idempotency: IdempotencyStore = {
      keptMs: 1,
      claim: async ({ key, commandId }) => {
        keys.push(key);
        return { commandId, isRepeated: false, wasDone: false };
      },
      execute: (_claim, work) => work(),
    };
    let browser: Browser;
    let edge: TestEdge;
    let url: string;
    let page: BrowserPage;

    beforeAll(async () => {
      edge = await edgeWithDocs({
        funding: {
          deposit: async (_request, { commandId }) => aDeposit({ operationId: commandId }),
        },
        app: { idempotency },
      });
      url = await edge.app.listen({ host: "127.0.0.1", port: 0 });
      browser = await startChromium(chromium ?? "");
    });
    afterAll(async () => {
      await browser?.[Symbol.asyncDispose]();
      await edge?.app.close();
    });
    beforeEach(async () => {
      page = await browser.open();
    });

    const expectQuiet = () => {
      expect(page.complaints).toEqual([]);
      const isElsewhere = (address: string) => !/^(?:data|blob):/.test(address) && !address.startsWith(`${url}/`);
      expect(page.requests.filter(isElsewhere)).toEqual([]);
    };

    test("a chapter of the guide is reached by its link, one language of a sample is shown at a time, and no page is wider than a phone or a desk", async () => {
      await page.goto(`${url}/docs`);
      await click(page, "nav.chapters a", "Code samples");
      await until(page, `document.querySelector("h1")?.textContent === "Code samples"`);
      const languages = () =>
        page.evaluate(
          `[...new Set([...document.querySelectorAll(".samples figure:not([hidden])")].map((one) => one.dataset.language))]`,
        );

      await expect.poll(languages).toEqual(["curl"]);
      await click(page, "[role=tab]", "PHP");
      expect(await languages()).toEqual(["PHP"]);
      for (const path of PAGES) {
        await page.goto(url + path);
        for (const scheme of SCHEMES) await expectToFit(page, { path, scheme });
      }
      expectQuiet();
    });

    test("the reference lists every operation, fits a phone and a desk, can be read, and shows the operation asked for, without a request to another origin", async () => {
      const [scheme = "dark", ...others] = sized<readonly (typeof SCHEMES)[number][]>({
        test: ["dark"],
        proof: SCHEMES,
      });
      await page.emulate({ width: 390, height: 844, scheme });
      await openReference(page, url, "#tag/funds/POST/api/v1/investor/deposit");
      for (const each of [scheme, ...others]) {
        await expectToFit(page, { path: "/docs/reference", scheme: each });
        await expectReadable(page);
      }
      await expectClosable(page);
      const linked = `[...document.querySelectorAll("#reference a")].map((one) => one.getAttribute("href") ?? "")`;
      const unlisted = async () => {
        const links = await page.evaluate<string[]>(linked);
        return DOCUMENTED_ROUTES.map(place).filter((wanted) => !links.some((href) => href.endsWith(wanted)));
      };
      await expect.poll(unlisted, { timeout: SHOWN_WITHIN_MS }).toEqual([]);
      // The viewer draws an operation when it comes into view: one of each tag is enough, and the last one in `make test`.
      const ofTags = [...new Map(DOCUMENTED_ROUTES.map((one) => [one.tag, one])).values()];
      for (const route of ofTags.slice(sized({ test: -1, proof: 0 }))) {
        const end = JSON.stringify(place(route));
        await page.evaluate(
          `[...document.querySelectorAll("#reference a")].find((one) => one.getAttribute("href")?.endsWith(${end})).click()`,
        );
        await until(page, `[...document.querySelectorAll("section[id]")].some(({ id }) => id.endsWith(${end}))`);
      }
      expect(await page.evaluate("document.title")).toContain("PAMM Integration Service");
      expectQuiet();
    });

    test("a command is tried twice, each time with a key of its own; the API key is typed and kept nowhere, and each value of a set is explained once", async () => {
      await openReference(page, url, "#tag/funds/POST/api/v1/investor/deposit");
      const section = `[...document.querySelectorAll("section[id]")].find(({ id }) => id.endsWith("investor/deposit"))`;
      const meaning = "US dollar, the only currency.";
      await until(page, `${section}?.textContent.includes("${meaning}")`);
      expect(await page.evaluate(`${section}.textContent.split("${meaning}").length - 1`)).toBe(1);

      await tryIt(page, "/api/v1/investor/deposit");
      await expect.poll(() => keys.length, { timeout: SHOWN_WITHIN_MS }).toBe(1);
      await click(page, "button", "Send post request to");
      await expect.poll(() => keys.length, { timeout: SHOWN_WITHIN_MS }).toBe(2);

      expect(keys).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
      expect(new Set(keys).size).toBe(2);
      await until(page, `document.body.textContent.includes("deal_id")`);
      const stored = `(async () => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, await indexedDB.databases()]))()`;
      expect(await page.evaluate(stored)).not.toContain(TEST_KEY);
      expect(JSON.parse(await page.evaluate(stored)).at(-1)).toEqual([]);
      expectQuiet();
    });
  },
);
