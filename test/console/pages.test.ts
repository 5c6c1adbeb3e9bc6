import { readFile } from "node:fs/promises";
import process from "node:process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Browser, startChromium } from "#test/support/chromium.ts";
import { TEST_KEY, type TestEdge, type TestOptions } from "../../services/edge/testing/test-edge.ts";
import { type Amounts, consoleEdge } from "./support/console-edge.ts";
import { CHROMIUM, type ConsolePage, isSkipped, openConsole, type Scheme } from "./support/console-page.ts";

const OPERATION = "019c13fa-9600-7000-8000-000000000000";
const PAGES = [
  "overview",
  "operations",
  `operations/${OPERATION}`,
  "reviews",
  "reviews/subscription-1",
  "breaks",
  "breaks/subscription-1",
  "keys",
];
const WIDTHS = [390, 768, 1280];
const SCHEMES: readonly Scheme[] = ["light", "dark"];
const SOME = { masters: 6, operations: 200, cases: 3 };

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 180_000 }, () => {
  let browser: Browser;
  const edges: TestEdge[] = [];
  beforeAll(async () => {
    browser = await startChromium(CHROMIUM);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await Promise.all(edges.map(({ app }) => app.close()));
  });

  async function signedIn(amounts: Amounts, options: TestOptions = {}): Promise<{ tab: ConsolePage; edge: TestEdge }> {
    const edge = await consoleEdge(amounts, options);
    edges.push(edge);
    const url = await edge.app.listen({ host: "127.0.0.1", port: 0 });
    const tab = await openConsole(browser, url);
    await tab.signIn(TEST_KEY);
    return { tab, edge };
  }

  const expectQuiet = ({ page }: ConsolePage) => {
    const origin = new URL(page.requests.find((address) => address.startsWith("http")) ?? "").origin;
    expect(page.complaints).toEqual([]);
    expect(page.requests.filter((address) => !/^data:/.test(address) && !address.startsWith(`${origin}/`))).toEqual([]);
  };

  test("every page is accessible and fits, in light and dark and three widths", async () => {
    const { tab } = await signedIn(SOME);
    for (const address of PAGES) {
      await tab.go(address);
      for (const scheme of SCHEMES) {
        for (const width of WIDTHS) {
          await tab.page.emulate({ width, height: 900, scheme });
          expect([address, scheme, width, await tab.overflow(), await tab.violations()]).toEqual([
            address,
            scheme,
            width,
            0,
            [],
          ]);
        }
      }
    }
    expectQuiet(tab);
  });

  test.runIf(process.env["PAMM_SCREENSHOTS"] === "true")(
    "pictures of each page are saved in docs/console",
    async () => {
      const { tab } = await signedIn({ ...SOME, text: "External funds of 40.00 USD" });
      for (const address of PAGES) {
        await tab.go(address);
        await tab.shoot(nameOf(address));
      }
      await tab.page.emulate({ width: 390, height: 800, scheme: "dark" });
      for (const address of ["overview", "reviews/subscription-1"]) {
        await tab.go(address);
        await tab.shoot(`${nameOf(address)}-narrow-dark`);
      }
    },
  );

  test("pages without a row say what that means, and violate no rule", async () => {
    const { tab } = await signedIn({ masters: 0, operations: 0, cases: 0 });
    const texts = [
      ["overview", "Nothing waits"],
      ["operations", "There is no operation yet."],
      ["reviews", "No review waits for an operator."],
      ["breaks", "No check has found a difference"],
    ] as const;
    for (const [address, text] of texts) {
      await tab.go(address);
      await tab.shows(text);
      expect([address, await tab.violations()]).toEqual([address, []]);
    }
    expectQuiet(tab);
  });

  test("a list of 100,000 operations loads as it is scrolled, and draws some rows only", async () => {
    const { tab } = await signedIn({ masters: 1, operations: 100_000, cases: 0 });
    await tab.go("operations");
    const scroll = "document.querySelector('.scroller').scrollTop = 1e9";
    const shown = () => tab.page.evaluate<number>("document.querySelectorAll('tbody tr').length");
    const height = () => tab.page.evaluate<number>("document.querySelector('.scroller').scrollHeight");
    await expect.poll(height).toBeGreaterThan(2_000);
    await expect
      .poll(async () => (await tab.page.evaluate(scroll), await height()), { timeout: 60_000 })
      .toBeGreaterThan(30 * 1_500);
    expect(await shown()).toBeLessThan(120);
    expectQuiet(tab);
  });

  test("stored text stays text: on no page does a script in a name, comment, message or evidence run", async () => {
    const { tab } = await signedIn(SOME);
    for (const address of PAGES) {
      await tab.go(address);
      expect(await tab.page.evaluate("globalThis.attacked ?? 0")).toBe(0);
      expect(await tab.page.evaluate("document.querySelectorAll('main img, main script').length")).toBe(0);
    }
    await tab.go("operations");
    await tab.shows(`<script>globalThis.attacked=2</script>`);
    expectQuiet(tab);
  });

  test("text cannot be made HTML or script, not even by code of the page", async () => {
    const { tab } = await signedIn(SOME);
    const attempt = (code: string) =>
      tab.page.evaluate<string>(`(() => { try { ${code}; return "done" } catch (error) { return error.name } })()`);
    expect(await attempt("document.body.innerHTML = '<b>x</b>'")).toBe("TypeError");
    expect(await attempt("document.createElement('script').src = '/x.js'")).toBe("TypeError");
  });

  test("another page cannot frame the console", async () => {
    const edge = await consoleEdge(SOME);
    edges.push(edge);
    const url = await edge.app.listen({ host: "127.0.0.1", port: 0 });
    // Of the same site, so that what the browser says about the frame is said in this tab.
    const other = createServer((_request, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end(`<iframe src="${url}/console"></iframe>`),
    );
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void other.close());
    const page = await browser.open();
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    await expect.poll(() => page.complaints.join()).toMatch(/frame/i);
    expect(page.requests.filter((address) => address.includes("/console/assets/"))).toEqual([]);
  });

  test("the key is in no storage, cookie, address, error or text, and is gone after the sign-out", async () => {
    const { tab } = await signedIn(SOME, {
      funding: { listOperations: () => Promise.reject(new Error("a fault of the service")) },
    });
    await tab.go("operations");
    await tab.shows("fault");
    const everywhere = `(async () => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage },
      await indexedDB.databases(), location.href, document.documentElement.outerHTML, performance.getEntries().map(({ name }) => name),
      history.state]))()`;
    expect(await tab.page.evaluate(everywhere)).not.toContain(TEST_KEY);
    expect(tab.page.requests.join()).not.toContain(TEST_KEY);
    expect(tab.page.complaints.join()).not.toContain(TEST_KEY);
    await tab.click("button", "Sign out");
    await tab.shows("API key");
    expect(await tab.page.evaluate("document.querySelector('#api-key').value")).toBe("");
  });

  test("what a key may not do is not shown, and a key that is refused signs out", async () => {
    let isValid = true;
    const caller = {
      keyId: "KeyOfSupport",
      clientId: "KeyOfSupport",
      client: "support",
      scopes: new Set(["investors:read"] as const),
      environment: "test" as const,
      expiresAt: null,
      isLimitedToAddresses: false,
      rejectsDuplicates: false,
    };
    const { tab, edge } = await signedIn(SOME, {
      app: { authenticate: async () => (isValid ? caller : undefined) },
    });
    const pages = () =>
      tab.page.evaluate<string[]>("[...document.querySelectorAll('nav.pages a')].map((one) => one.textContent)");
    expect(await pages()).toEqual(["Overview", "Investors", "Operations", "Keys"]);
    await tab.go("reviews");
    await tab.shows("Nothing here");
    expect(edge.calls.filter(({ method }) => /review|break|proof/i.test(method))).toEqual([]);
    isValid = false;
    await tab.page.evaluate("location.hash = '/operations'");
    await tab.shows("The API key is not accepted any more.");
  });

  test("the rows of a table are saved as CSV that no spreadsheet takes for a formula", async () => {
    const { tab } = await signedIn(SOME);
    await tab.go("operations");
    const saved = `new Promise((resolve) => {
      const create = URL.createObjectURL;
      URL.createObjectURL = (blob) => (blob.text().then(resolve), create.call(URL, blob));
      [...document.querySelectorAll("button")].find((one) => one.textContent === "CSV").click();
    })`;
    const lines = (await tab.page.evaluate<string>(saved)).split("\r\n");
    expect(lines[0]).toContain("Requested,Operation,Action,Investor");
    expect(lines.length).toBeGreaterThan(100);
  });
});

function nameOf(address: string): string {
  const [page = "", id] = address.split("/");
  return id === undefined ? page : `${page}-one`;
}

test("the first page is less than 150 kB compressed", async () => {
  const edge = await consoleEdge(SOME);
  const get = (url: string) => edge.app.inject({ url, headers: { "accept-encoding": "gzip" } });
  const page = await get("/console");
  const read = await edge.app.inject({ url: "/console" });
  const first = [...read.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = ""]) => url);
  const script = await edge.app.inject({ url: first.find((url) => url.endsWith(".js")) ?? "" });
  // What the overview needs beside it is loaded by the script.
  const all = [
    ...new Set([...first, ...[...script.body.matchAll(/assets\/[\w.-]+/g)].map(([name]) => `/console/${name}`)]),
  ];
  const sizes = await Promise.all(all.map(async (url) => (await get(url)).rawPayload.length));
  await edge.app.close();

  expect(sizes.length).toBeGreaterThan(2);
  expect(page.rawPayload.length + sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000);
});

test("no source of the console writes HTML, or uses a float of an amount", async () => {
  const { globSync } = await import("node:fs");
  const files = globSync("services/console/**/*.{ts,tsx}", { exclude: ["services/console/dist/**"] });
  expect(files.length).toBeGreaterThan(30);
  for (const file of files) {
    const text = await readFile(file, "utf8");
    expect([
      file,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|parseFloat/.test(text),
    ]).toEqual([file, false]);
  }
});
