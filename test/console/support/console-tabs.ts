import { afterAll, beforeAll, expect } from "vitest";
import { type Browser, startChromium } from "#test/support/chromium.ts";
import { TEST_KEY, type TestEdge, type TestOptions } from "../../../services/edge/testing/test-edge.ts";
import { CHROMIUM, type ConsolePage, openConsole } from "./console-page.ts";

/** A browser for the tests of a file, and an edge of its own for each tab: one that has as much as is asked for. */
export function consoleTabs<Amounts>(edgeWith: (amounts: Amounts, options: TestOptions) => Promise<TestEdge>) {
  let browser: Browser;
  const edges: TestEdge[] = [];
  beforeAll(async () => {
    browser = await startChromium(CHROMIUM);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await Promise.all(edges.map(({ app }) => app.close()));
  });
  const serve = async (amounts: Amounts, options: TestOptions = {}) => {
    const edge = await edgeWith(amounts, options);
    edges.push(edge);
    return { edge, url: await edge.app.listen({ host: "127.0.0.1", port: 0 }) };
  };
  return {
    browser: () => browser,
    serve,
    signedIn: async (amounts: Amounts, options: TestOptions = {}): Promise<{ tab: ConsolePage; edge: TestEdge }> => {
      const { edge, url } = await serve(amounts, options);
      const tab = await openConsole(browser, url);
      await tab.signIn(TEST_KEY);
      return { tab, edge };
    },
  };
}

/** The page has complained about nothing, and has asked no other origin. */
export function expectQuiet({ page }: ConsolePage): void {
  const { origin } = new URL(page.requests.find((address) => address.startsWith("http")) ?? "");
  const isElsewhere = (address: string) => !address.startsWith("data:") && !address.startsWith(`${origin}/`);
  expect(page.complaints).toEqual([]);
  expect(page.requests.filter(isElsewhere)).toEqual([]);
}
