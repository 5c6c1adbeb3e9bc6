import { register } from "prom-client";
import { expect, test } from "vitest";
import { defineMetrics } from "../support/defined-metrics.ts";
import { read } from "./markdown.ts";

/** The cells of each row of docs/operate/metrics.md about a metric. */
const rows = read("docs/operate/metrics.md")
  .split("\n")
  .filter((line) => line.startsWith("| `pamm_"))
  .map((line) =>
    line
      .split("|")
      .slice(1)
      .map((cell) => cell.trim()),
  );

/** Name, type and labels of a row: the page has a column for the services between them where they differ. */
function described(cells: readonly string[]): string {
  const [name = "", ...rest] = cells;
  const type = rest.findIndex((cell) => ["counter", "gauge", "histogram"].includes(cell));
  return [name, rest[type], rest[type + 1]].join(" ");
}

test("docs/operate/metrics.md has one row for every metric of the services, with its type and labels", async () => {
  await defineMetrics();
  // Another test of this process may have begun to collect those of Node.js.
  const defined = register
    .getMetricsAsArray()
    .map(
      (metric) => metric as unknown as { name: string; labelNames: readonly string[]; constructor: { name: string } },
    )
    .filter(({ name }) => name.startsWith("pamm_"))
    .map(({ name, labelNames, constructor }) =>
      [`\`${name}\``, constructor.name.toLowerCase(), labelNames.map((label) => `\`${label}\``).join(", ")].join(" "),
    );

  expect(defined.length).toBeGreaterThan(40);
  expect(rows.map(described).toSorted()).toEqual(defined.toSorted());
});
