import type { Hits } from "./coverage.ts";

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

/** The number of combinations that occurred at least `atLeast` times. */
export function countCells(hits: Hits, atLeast: number): number {
  return Object.values(hits).filter((times) => times >= atLeast).length;
}
