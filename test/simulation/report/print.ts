import type { Tally } from "../run-seeds.ts";
import type { Hits } from "./coverage.ts";

/** A combination is counted at each level that it reached. */
const LEVELS = [1, 10, 100, 1_000];
const HOUR_MS = 3_600_000;

/** The failures, and the size and speed of the run. */
export function printTally(tally: Tally, seconds: number): string {
  const { seeds, events, simulatedMs, crashes, faults, failures, hits, trace } = tally;
  const rate = (seeds / seconds).toFixed(1);
  const counted = LEVELS.map((level) => {
    const cells = Object.values(hits).filter((times) => times >= level).length;
    return `${cells} covered ${level === 1 ? "once" : `${level} times`}`;
  });
  return [
    ...failures.map(({ seed, mode, invariant, message }) => `seed ${seed} (${mode}) breaks ${invariant}: ${message}`),
    `${seeds} histories in ${seconds.toFixed(1)} s, ${rate} a second; ${(simulatedMs / HOUR_MS).toFixed(1)} simulated hours, ${events} events`,
    `${crashes} crashes and ${faults} other faults`,
    `combinations of kind, crash point and fault: ${counted.join(", ")}`,
    `trace ${trace.toString(16).padStart(8, "0")}, ${failures.length} failed`,
  ].join("\n");
}

/** One row for each kind of leg and crash point, one column for each fault. */
export function coverageTable(hits: Hits): string {
  const cells = Object.entries(hits).map(([cell, times]) => {
    const [kind = "", crash = "", fault = ""] = cell.split("|");
    return { row: `${kind} x ${crash}`, fault, times };
  });
  const faults = sorted(cells.map(({ fault }) => fault));
  const rows = sorted(cells.map(({ row }) => row));
  const width = Math.max(...rows.map((row) => row.length));
  const columns = faults.map((_, index) => String.fromCharCode(97 + (index % 26)).repeat(1 + Math.floor(index / 26)));
  const lines = rows.map((row) => {
    const times = faults.map((fault) => cells.find((cell) => cell.row === row && cell.fault === fault)?.times ?? 0);
    return `${row.padEnd(width)} ${times.map((count) => String(count).padStart(6)).join("")}`;
  });
  const legend = faults.map((fault, index) => `${columns[index]} = ${fault}`).join(", ");
  return [`${"".padEnd(width)} ${columns.map((name) => name.padStart(6)).join("")}`, ...lines, legend].join("\n");
}

/** A short form: the number of legs of each kind with each crash point, and with each fault. */
export function coverageSummary(hits: Hits): string {
  return [marginal(hits, 1, "crash point"), marginal(hits, 2, "fault")].join("\n\n");
}

function marginal(hits: Hits, part: 1 | 2, title: string): string {
  const totals = new Map<string, number>();
  for (const [cell, times] of Object.entries(hits)) {
    const parts = cell.split("|");
    const key = `${parts[part]}|${parts[0]}`;
    totals.set(key, (totals.get(key) ?? 0) + times);
  }
  const kinds = sorted([...totals.keys()].map((key) => key.split("|")[1] ?? ""));
  const names = sorted([...totals.keys()].map((key) => key.split("|")[0] ?? ""));
  const width = Math.max(title.length, ...names.map((name) => name.length));
  const head = `${title.padEnd(width)} ${kinds.map((kind) => kind.padStart(11)).join("")}`;
  const lines = names.map((name) => {
    const counts = kinds.map((kind) => String(totals.get(`${name}|${kind}`) ?? 0).padStart(11));
    return `${name.padEnd(width)} ${counts.join("")}`;
  });
  return [head, ...lines].join("\n");
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
