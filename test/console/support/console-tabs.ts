import { afterAll, beforeAll, expect } from "vitest";
import { type Browser, startChromium } from "#test/support/chromium.ts";
import { TEST_KEY, type TestEdge, type TestOptions } from "../../../services/edge/testing/test-edge.ts";
import { type Books, booksEdge } from "./books-edge.ts";
import { type Amounts, consoleEdge } from "./console-edge.ts";
import { CHROMIUM, type ConsolePage, openConsole } from "./console-page.ts";

/** A browser for the tests of a file, and an edge of its own for each tab. */
export function consoleTabs() {
  let browser: Browser;
  const edges: TestEdge[] = [];
  beforeAll(async () => {
    browser = await startChromium(CHROMIUM);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await Promise.all(edges.map(({ app }) => app.close()));
  });
  const listen = async (edge: TestEdge): Promise<string> => {
    edges.push(edge);
    return await edge.app.listen({ host: "127.0.0.1", port: 0 });
  };
  const open = async (url: string): Promise<ConsolePage> => {
    const tab = await openConsole(browser, url);
    await tab.signIn(TEST_KEY);
    return tab;
  };
  return {
    browser: () => browser,
    serve: async (amounts: Amounts) => await listen(await consoleEdge(amounts)),
    signedIn: async (amounts: Amounts, options: TestOptions = {}): Promise<{ tab: ConsolePage; edge: TestEdge }> => {
      const edge = await consoleEdge(amounts, options);
      return { tab: await open(await listen(edge)), edge };
    },
    signedInToBooks: async (books: Books): Promise<ConsolePage> => await open(await listen(await booksEdge(books))),
  };
}

/** The page has complained about nothing, and has asked no other origin. */
export function expectQuiet({ page }: ConsolePage): void {
  const { origin } = new URL(page.requests.find((address) => address.startsWith("http")) ?? "");
  const isElsewhere = (address: string) => !address.startsWith("data:") && !address.startsWith(`${origin}/`);
  expect(page.complaints).toEqual([]);
  expect(page.requests.filter(isElsewhere)).toEqual([]);
}
