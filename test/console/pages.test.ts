import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { expectAccessible } from "./support/accessible.ts";
import { consoleEdge, PAGES, SOME } from "./support/console-edge.ts";
import { isSkipped } from "./support/console-page.ts";
import { consoleTabs, expectQuiet } from "./support/console-tabs.ts";

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 180_000 }, () => {
  const { signedIn } = consoleTabs(consoleEdge);

  test("every page is accessible and fits, in light and dark and three widths", async () => {
    const { tab } = await signedIn(SOME);
    for (const address of PAGES) {
      await tab.go(address);
      await expectAccessible(tab, address);
    }
    expectQuiet(tab);
  });

  test("held money commands are said first, with what was imported and what resume waits for", async () => {
    const { tab } = await signedIn(HELD);
    await tab.go("overview");
    await tab.shows("Money commands are held: the database is behind the platform");
    await tab.shows("refused with safety_stop");
    for (const address of HELD_PAGES) {
      await tab.go(address);
      await tab.shows("Imports open1");
      await tab.shows("The check deal_matching has not completed a run since the stop.");
      await expectAccessible(tab, address);
    }
    expectQuiet(tab);
  });

  // oxlint-disable-next-line vitest/expect-expect -- it saves pictures.
  test.runIf(process.env["PAMM_SCREENSHOTS"] === "true")(
    "pictures of each page are saved in docs/console",
    async () => {
      const { tab } = await signedIn({ ...SOME, text: "External funds of 40.00 USD" });
      for (const address of PAGES) {
        await tab.go(address);
        await tab.shoot(nameOf(address));
      }
      const { tab: held } = await signedIn({ ...HELD, text: "External funds of 40.00 USD" });
      for (const address of HELD_PAGES) {
        await held.go(address);
        await held.shows("Imports open");
        await held.shoot(`${nameOf(address)}-held`);
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

  test("the rows of a table are saved as CSV", async () => {
    const { tab } = await signedIn(SOME);
    await tab.go("operations");
    const saved = `new Promise((resolve) => {
      const create = URL.createObjectURL;
      URL.createObjectURL = (blob) => (blob.text().then(resolve), create.call(URL, blob));
      [...document.querySelectorAll("button")].find((one) => one.textContent === "CSV").click();
    })`;
    const lines = (await tab.page.evaluate<string>(saved)).split("\r\n");
    expect(lines[0]).toContain("Requested,Operation,Action,Investor");
    expect(lines.length).toBeGreaterThan(30);
  });
});

const HELD = { ...SOME, isHeld: true };
const HELD_PAGES = ["overview", "reviews/platform-7"];

function nameOf(address: string): string {
  const [page = "", id] = address.split("/");
  if (id === "groups") return `${page}-group`;
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

test("every answer has the policy: nothing inline or from elsewhere, no frame, and no text that becomes HTML", async () => {
  const edge = await consoleEdge(SOME);
  const { body } = await edge.app.inject({ url: "/console" });
  const [, script = ""] = /src="([^"]+)"/.exec(body) ?? [];
  for (const url of ["/console", script, "/console/nothing"]) {
    const { headers } = await edge.app.inject({ url });
    expect([url, headers]).toMatchObject([
      url,
      {
        "content-security-policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
      },
    ]);
    expect(headers["set-cookie"]).toBeUndefined();
  }
  expect((await edge.app.inject({ url: script })).headers["cache-control"]).toContain("immutable");
  await edge.app.close();
  expect(body.match(/<script(?![^>]* src="\/console\/assets\/)|<style| style=| on\w+="|"https?:|"\/\//g)).toBeNull();
});

test("no source of the console writes HTML, or uses a float of an amount", async () => {
  const files = globSync("services/console/**/*.{ts,tsx}");
  expect(files.length).toBeGreaterThan(30);
  for (const file of files) {
    const text = await readFile(file, "utf8");
    expect([
      file,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|parseFloat/.test(text),
    ]).toEqual([file, false]);
  }
});
