import type { OperationCosts } from "../section.ts";
import { number } from "./format.ts";
import type { Result } from "./document.ts";

const BEGIN = "<!-- measured: begin -->";
const END = "<!-- measured: end -->";
/** What stands in for a server of the broker, or for the trading platform. */
const OTHERS = ["postgres", "nats", "simulator"];

/** A Postgres primary as a cell has it; the rest of its processors is left for checkpoints, vacuum and replication. */
const PRIMARY_CORES = 32;
const USABLE_SHARE = 0.7;

/** Operations of each kind in a second, at the peak of a million Investors; docs/scaling.md derives them. */
const PEAK: Readonly<Record<string, number>> = {
  "deposit with mirror": 8,
  "withdrawal with mirror": 8,
  "read of an Investor": 1_200,
  posting: 600,
  "fee leg": 60,
};

/** The page with its measured section replaced. Throws when the page has no place for it. */
export function withMeasured(page: string, results: readonly Result[]): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`the page has no lines ${BEGIN} and ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${measuredOf(results)}\n${page.slice(to)}`;
}

function measuredOf(results: readonly Result[]): string {
  const costs = results.flatMap(({ outcome }) =>
    "section" in outcome ? Object.entries(outcome.section.operationCosts ?? {}) : [],
  );
  if (costs.length === 0) return "Not measured yet: `make bench` writes this section.\n";
  return [tableOf(costs), ...peakOf(new Map(costs))].join("\n");
}

function tableOf(costs: readonly (readonly [string, OperationCosts])[]): string {
  const rows = costs.map(([name, of]) => {
    const postgres = of["postgres"] ?? 0;
    const services = servicesOf(of);
    const [busiest = ["", 0]] = services.toSorted(([, one], [, other]) => other - one);
    const perSecond = (PRIMARY_CORES * USABLE_SHARE * 1_000) / postgres;
    return [
      name,
      number(sum(Object.entries(of))),
      number(postgres),
      number(sum(services)),
      `${busiest[0]}: ${number(1_000 / busiest[1])}`,
      number(perSecond),
      number((perSecond * sum(services)) / 1_000),
    ];
  });
  const columns = [
    "operation",
    "processor ms in all",
    "of it Postgres",
    "of it services",
    "busiest service, per second and process",
    `per second, Postgres of ${PRIMARY_CORES} cores`,
    "service cores for that",
  ];
  return `${[columns, columns.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`;
}

/** Only when every operation of the peak was measured: a sum that leaves one out would be too small. */
function peakOf(costs: ReadonlyMap<string, OperationCosts>): string[] {
  const peak = Object.entries(PEAK).map(([name, perSecond]) => ({ of: costs.get(name), perSecond }));
  if (peak.some(({ of }) => of === undefined)) return [];
  const cores = (ms: (of: OperationCosts) => number): string =>
    number(peak.reduce((all, { of = {}, perSecond }) => all + (ms(of) * perSecond) / 1_000, 0));
  const postgres = cores((of) => of["postgres"] ?? 0);
  const services = cores((of) => sum(servicesOf(of)));
  return [
    `The peak of a million Investors keeps ${postgres} cores of Postgres and ${services} cores of the services busy.\n`,
  ];
}

function servicesOf(of: OperationCosts): (readonly [string, number])[] {
  return Object.entries(of).filter(([name]) => !OTHERS.includes(name));
}

function sum(parts: readonly (readonly [string, number])[]): number {
  return parts.reduce((all, [, part]) => all + part, 0);
}
