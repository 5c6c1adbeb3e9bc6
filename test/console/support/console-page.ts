import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { expect } from "vitest";
import { type Browser, type BrowserPage, findChromium } from "#test/support/chromium.ts";

const SHOWN_WITHIN_MS = 30_000;
const SHOTS = join(import.meta.dirname, "../../../docs/console");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const CHROMIUM = findChromium() ?? "";
/** The proof needs a Chromium; elsewhere the machine may have none. */
export const isSkipped = CHROMIUM === "" && process.env["PAMM_PROOF"] !== "true";

export type Scheme = "light" | "dark";

/** A tab of the console, driven as a person would: by what is shown. */
export type ConsolePage = {
  readonly page: BrowserPage;
  readonly signIn: (key: string) => Promise<void>;
  readonly go: (address: string) => Promise<void>;
  /** Waits until the main part has the text. */
  readonly shows: (text: string) => Promise<void>;
  readonly text: () => Promise<string>;
  readonly click: (selector: string, text: string) => Promise<void>;
  readonly fill: (selector: string, text: string) => Promise<void>;
  /** Rules of accessibility that the page violates, with the elements. */
  readonly violations: () => Promise<string[]>;
  /** How far the page is wider than the window. */
  readonly overflow: () => Promise<number>;
  /** Saves a picture in docs/console, of the whole page where that is not taller than TALLEST. */
  readonly shoot: (name: string) => Promise<void>;
};

export async function openConsole(browser: Browser, url: string): Promise<ConsolePage> {
  const page = await browser.open();
  await page.emulate({ width: 1280, height: 800, scheme: "light" });
  await page.goto(`${url}/console`);
  const until = async (expression: string): Promise<void> => {
    await expect
      .poll(() => page.evaluate<boolean>(`Boolean(${expression})`), { timeout: SHOWN_WITHIN_MS, message: expression })
      .toBe(true);
  };
  const fill = async (selector: string, text: string): Promise<void> => {
    await until(`document.querySelector(${JSON.stringify(selector)})`);
    await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`);
    await page.type(text);
  };
  const click = async (selector: string, text: string): Promise<void> => {
    const matches = `(one) => one.textContent.includes(${JSON.stringify(text)})`;
    const found = `[...document.querySelectorAll(${JSON.stringify(selector)})].find(${matches})`;
    await until(`((found) => (found?.click(), found))(${found})`);
  };
  return {
    page,
    fill,
    click,
    async signIn(key) {
      await fill("#api-key", key);
      await click("button", "Sign in");
      await until("document.querySelector('nav.pages')");
    },
    async go(address) {
      await page.evaluate(`location.hash = ${JSON.stringify(`/${address}`)}`);
      await until("!/Loading/.test(document.querySelector('main')?.textContent ?? 'Loading')");
    },
    shows: (text) => until(`document.querySelector("main")?.textContent.includes(${JSON.stringify(text)})`),
    text: () => page.evaluate<string>("document.querySelector('main').textContent"),
    async violations() {
      await page.evaluate(`globalThis.axe === undefined && (${AXE_LOADER})(${JSON.stringify(AXE)})`);
      const run = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target, failureSummary].join(" "))))`;
      return await page.evaluate<string[]>(run);
    },
    overflow: () =>
      page.evaluate<number>(
        "Math.max(document.documentElement.scrollWidth - document.documentElement.clientWidth, document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth)",
      ),
    async shoot(name) {
      const { width, height, scheme, needed } = await page.evaluate<Shown>(SHOWN);
      await page.emulate({ width, scheme, height: Math.min(TALLEST, Math.max(height, needed)) });
      await page.evaluate(DRAWN_ANEW);
      mkdirSync(SHOTS, { recursive: true });
      writeFileSync(join(SHOTS, `${name}.png`), await page.screenshot());
      await page.emulate({ width, height, scheme });
    },
  };
}

type Shown = { readonly width: number; readonly height: number; readonly scheme: Scheme; readonly needed: number };

const TALLEST = 1_600;
const SHOWN = `(() => {
  const main = document.querySelector("main");
  const needed = innerHeight - main.clientHeight + main.scrollHeight;
  return { width: innerWidth, height: innerHeight, scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", needed };
})()`;
/** Tables draw the rows that are seen. */
const DRAWN_ANEW = "new Promise((drawn) => setTimeout(drawn, 300))";

/** By the debugger, which the policy of the page does not bind. */
const AXE_LOADER = "(source) => void (0, eval)(source)";
