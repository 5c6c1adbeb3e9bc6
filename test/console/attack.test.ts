import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { TEST_KEY } from "../../services/edge/testing/test-edge.ts";
import { consoleEdge, PAGES, SOME } from "./support/console-edge.ts";
import { isSkipped } from "./support/console-page.ts";
import { consoleTabs, expectQuiet } from "./support/console-tabs.ts";

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 180_000 }, () => {
  const { browser, serve, signedIn } = consoleTabs(consoleEdge);

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
    const { url } = await serve(SOME);
    // Of the same site, so that what the browser says about the frame is said in this tab.
    const other = createServer((_request, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end(`<iframe src="${url}/console"></iframe>`),
    );
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void other.close());
    const page = await browser().open();
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
});
