import { join } from "node:path";
import { expect, test } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../services/kernel/values/duration.ts";
import { CHECKS, STOPPED } from "#catalogue/checks.ts";
import { type Action, ACTIONS, REASONS } from "#catalogue/reviews.ts";
import { read, ROOT } from "./markdown.ts";

const DEALS = { required: " with `deal_id`", optional: ", with or without `deal_id`" } as const;

/** `vitest run test/docs/catalogues.test.ts --update` writes the tables. */
test("the table of checks is that of their catalogue", async () => {
  const rows = Object.entries(CHECKS).map(([name, { service, title, details, everyMs, confirmations, stops }]) => [
    name,
    service,
    everyMs > MINUTE_MS ? `${everyMs / MINUTE_MS} min` : `${everyMs / SECOND_MS} s`,
    details === undefined ? title : `${title} ${details}`,
    confirmations === 1 ? "one run" : "two runs",
    stops.map((each) => STOPPED[each]).join("; ") || "nothing",
  ]);

  await expectTable(
    "docs/reconciliation.md",
    ["check", "service", "every", "what it compares", "opened by", "stops"],
    rows,
  );
});

test("the table of actions is that of the catalogue of reviews", async () => {
  const rows = Object.entries(ACTIONS).flatMap(([name, { deal, when, effect }]) => {
    const action = `\`${name}\`${deal === undefined ? "" : DEALS[deal]}`;
    const own = Object.entries(REASONS).flatMap(([reason, { actions }]) => {
      const entry = actions?.[name as Action];
      return entry === undefined ? [] : [[action, `\`${reason}\`: ${entry.when}`, entry.effect ?? effect]];
    });
    return when === undefined ? own : [...own, [action, when, effect]];
  });

  await expectTable("docs/operate/reviews.md", ["action", "when", "effect"], rows);
});

/** The page has one table with this head. */
async function expectTable(page: string, head: readonly string[], rows: readonly (readonly string[])[]): Promise<void> {
  const [first = "", ...others] = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const lines = read(page).split("\n");
  const from = lines.indexOf(first);
  const length = lines.slice(from).findIndex((line) => !line.startsWith("|"));

  expect(from).toBeGreaterThan(0);
  const text = lines.toSpliced(from, length, first, ...others).join("\n");
  await expect(text).toMatchFileSnapshot(join(ROOT, page));
}
