import { isMet, type Comparison, type Section, type Table, type Target } from "../section.ts";
import { number, spread } from "./format.ts";

/** What is stored of a part: its last figures, or why it has none. */
export type Result = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly conditions: Conditions;
  readonly outcome:
    | { readonly section: Section }
    | { readonly violations: readonly string[] }
    | { readonly skipped: string };
};

/** Under what circumstances a part was measured. */
export type Conditions = {
  readonly command: string;
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  /** Pages of 8 KiB that one writer makes durable in a second. */
  readonly flushesPerSecond: number;
  readonly stealPercent: number;
  readonly seconds: number;
};

const HEAD = `# Performance

\`make bench\` measures and writes this page; \`make bench part="deposit limit"\` replaces the named parts. Postgres (with fsync), NATS, the
simulator and the six services are processes of their own, started as by \`make run\`. The platform answers without latency unless a
part says otherwise. Figures depend on the machine, so what counts are the ratios.

Method: contestants are measured in turns (A-B-A-B) on the same machine, the others stopped (SIGSTOP) meanwhile; a ratio is the median
of the ratios of neighbouring turns, with the smallest and the largest. The load generator is a process of its own with a low priority.
"At 8" is a closed loop of 8 callers, which finds the capacity; an open loop sends at fixed instants, and a latency counts from the
instant at which its request was due. Costs are processor time per answered request, by process, with the background work of that
time; on two shared cores they are steadier than rates.

After each workload the books are compared: every 200 has exactly one deal with its ticket, login and amount, no deal is without a
request, deals add up to what callers were answered, balances agree, and no check of the service reports a break. A workload that breaks
one of these has no figures.
`;

/** The whole page. Parts that were never measured are left out. */
export function documentOf(results: readonly Result[]): string {
  return [HEAD, summaryOf(results), ...results.map(partOf)].join("\n");
}

function summaryOf(results: readonly Result[]): string {
  const rows = results.flatMap(({ outcome, title }) =>
    "section" in outcome ? outcome.section.comparisons.map(comparisonRow) : [[title, "", "no figures", "", ""]],
  );
  if (rows.length === 0) return "";
  const columns = ["measured", "compared to", "median (min - max)", "target", "pairs"];
  return `## Results\n\n${tableOf({ title: "", columns, rows })}`;
}

function comparisonRow({ what, comparedTo, value, unit, pairs, target, limit }: Comparison): string[] {
  const missed = limit === undefined ? "**missed**" : `**missed**; ${limit}`;
  const verdict = target === undefined ? "" : `${targetText(target)} ${isMet(value, target) ? "met" : missed}`;
  return [what, comparedTo, `${spread(value)} ${unit}`, verdict, String(pairs)];
}

function targetText(target: Target): string {
  return "atLeast" in target ? `>= ${target.atLeast}` : `<= ${target.atMost}`;
}

function partOf({ title, about, conditions, outcome }: Result): string {
  return [`## ${title}\n`, `${about}\n`, ...figuresOf(outcome), conditionsOf(conditions)].join("\n");
}

function figuresOf(outcome: Result["outcome"]): string[] {
  if ("section" in outcome) {
    return outcome.section.tables.map(tableOf);
  }
  if ("skipped" in outcome) return [`Not measured: ${outcome.skipped}.\n`];
  const list = outcome.violations.map((each) => `* ${each}`).join("\n");
  return [`No figures: an invariant was violated.\n\n${list}\n`];
}

function tableOf({ title, columns, rows }: Table): string {
  const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "/")).join(" | ")} |`;
  const head = title === "" ? [] : [`**${title}**\n`];
  return [...head, row(columns), row(columns.map(() => "---")), ...rows.map(row), ""].join("\n");
}

function conditionsOf(conditions: Conditions): string {
  const { command, date, commit, machine, flushesPerSecond, stealPercent, seconds } = conditions;
  return `<sub>\`${command}\`, ${date}, commit ${commit}, ${Math.round(seconds)} s; ${machine}; fdatasync of 8 KiB ${number(flushesPerSecond)}/s; steal ${number(stealPercent)} %</sub>\n`;
}
