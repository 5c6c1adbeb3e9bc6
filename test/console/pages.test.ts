import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { expectAccessible, expectSound, expectUnattacked } from "./support/accessible.ts";
import { consoleEdge, PAGES, SOME } from "./support/console-edge.ts";
import { isSkipped } from "./support/console-page.ts";
import { consoleTabs, expectQuiet } from "./support/console-tabs.ts";

describe.skipIf(isSkipped)("in a Chromium, where the machine has one,", { timeout: 180_000 }, () => {
  const { signedIn, signedInToBooks } = consoleTabs();

  test("every page is accessible and fits, in light and dark and three widths, makes sense when it is spoken, and runs no stored script", async () => {
    const { tab } = await signedIn(SOME);
    // What the overview is made of, and a proof of each Master.
    await tab.shows("Master 4");
    expect(tab.page.requests.filter((address) => address.includes("/api/v1/")).length).toBeLessThanOrEqual(
      20 + SOME.masters,
    );
    for (const address of PAGES) {
      await tab.go(address);
      await expect.poll(() => tab.page.evaluate("document.activeElement.tagName"), { message: address }).toBe("H1");
      await expectSound(tab, address);
    }
    await tab.go("operations");
    await tab.shows("<script>globalThis.attacked=2</script>");
    expectQuiet(tab);
  });

  test("every page of books, too, and the lines of a text stay lines", async () => {
    const plain = await signedInToBooks({ days: 30, rows: 20 });
    const tab = await signedInToBooks({ days: 3, rows: 200, isHostile: true });
    for (const [address] of BOOKS) {
      await plain.go(address);
      await expectSound(plain, address);
      await tab.go(address);
      await expectUnattacked(tab, address);
    }
    expectQuiet(plain);
    await tab.go("investors/3000003/fees");
    await tab.shows("<script>globalThis.attacked=2</script>");
    await tab.go("masters/3000001");
    await tab.shows("Flat at night.");
    expect(await tab.page.evaluate("document.querySelector('main').innerText")).toContain(
      "Trend following.\n\nFlat at night.",
    );
    expectQuiet(tab);
  });

  test("every figure of the overview leads to a page", async () => {
    const { tab } = await signedIn(SOME);
    await tab.shows("Converged Masters");
    const figures = "[...document.querySelectorAll('.figure dt a')].map((one) => one.getAttribute('href'))";
    const targets = await tab.page.evaluate<string[]>(figures);
    expect(targets.length).toBeGreaterThan(5);
    for (const target of targets.filter((each) => each.startsWith("#/"))) {
      await tab.go(target.slice("#/".length));
      expect([target, (await tab.text()).includes("Nothing here")]).toEqual([target, false]);
    }
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
      const plain = { ...SOME, text: "External funds of 40.00 USD" };
      const { tab } = await signedIn(plain);
      for (const address of PAGES) {
        await tab.go(address);
        await tab.shoot(nameOf(address));
      }
      const { tab: held } = await signedIn({ ...plain, isHeld: true });
      for (const address of HELD_PAGES) {
        await held.go(address);
        await held.shows("Imports open");
        await held.shoot(`${nameOf(address)}-held`);
      }
      const books = await signedInToBooks({ days: 120, rows: 200 });
      for (const [address, name] of BOOKS) {
        await books.go(address);
        await books.page.evaluate(SETTLED);
        await books.shoot(name);
      }
      for (const each of [tab, books]) await each.page.emulate({ width: 390, height: 800, scheme: "dark" });
      for (const address of ["overview", "reviews/subscription-1"]) {
        await tab.go(address);
        await tab.shoot(`${nameOf(address)}-narrow-dark`);
      }
      await books.go("masters/3000001");
      await books.page.evaluate(SETTLED);
      await books.shoot("master-performance-narrow-dark");
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
    const books = await signedInToBooks({ days: 0, rows: 0 });
    for (const [address, text] of EMPTY_BOOKS) {
      await books.go(address);
      await books.shows(text);
      expect([address, await books.violations()]).toEqual([address, []]);
    }
    expectQuiet(books);
  });
});

/** With the names of their pictures. */
const BOOKS = [
  ["masters", "masters"],
  ["masters/3000001", "master-performance"],
  ["masters/3000001?by=result", "master-results"],
  ["masters/3000001/pool", "master-pool"],
  ["masters/3000001/fees", "master-fees"],
  ["masters/3000001/subscriptions", "master-subscriptions"],
  ["masters/3000001/operations", "master-operations"],
  ["investors", "investors"],
  ["investors/3000003", "investor-equity"],
  ["investors/3000003/statement", "investor-statement"],
  ["investors/3000003/allocations", "investor-allocations"],
  ["investors/3000003/fees", "investor-fees"],
  ["fee-runs?master_login=3000001", "fee-runs"],
  ["fee-runs/100?master_login=3000001", "fee-runs-one"],
  ["fee-runs/payments/1000", "fee-payment"],
] as const;
const EMPTY_BOOKS = [
  ["masters/3000001", "The pool was not valued in this period."],
  ["masters/3000001?by=result", "No result was allocated in this period."],
  ["masters/3000001/pool", "No Investor has money in the pool."],
  ["masters/3000001/fees", "No fee was collected in this period."],
  ["investors/3000003/statement", "Nothing was booked in this period."],
  ["investors/3000003/allocations", "No result was allocated to the Investor yet."],
  ["fee-runs?master_login=3000001", "No fee above zero was collected"],
  ["fee-runs/7?master_login=3000001", "No payment of this run was found"],
] as const;
/** What is read is there; what is drawn follows. */
const SETTLED = "new Promise((settled) => setTimeout(settled, 700))";
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
