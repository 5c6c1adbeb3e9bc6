/** The result of one run of a part of `make proof`. */
export type Result = {
  readonly part: string;
  readonly passed: number;
  readonly failed: number;
  /** The sizes of the run, by name. */
  readonly figures: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Of the end of the run, as 2026-01-31. */
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
};

/** A line of the table, with the cells by which it is found and gets old. */
export type Row = Pick<Result, "part" | "date" | "commit"> & { readonly line: string };

/** What a row is compared with, to see how old it is. */
type Now = {
  /** As 2026-01-31. */
  readonly date: string;
  /** How many commits were made after this one; undefined for a commit that is not in the history. */
  readonly commitsSince: (commit: string) => number | undefined;
};

const MAX_COMMITS = 100;
const MAX_DAYS = 7;
const DAY_MS = 86_400_000;

/** Whether so much has changed since the run that its part has to run again. */
export function isDue({ date, commit }: Row, now: Now): boolean {
  const days = (Date.parse(now.date) - Date.parse(date)) / DAY_MS;
  return days > MAX_DAYS || (now.commitsSince(commit.replace("-dirty", "")) ?? Infinity) > MAX_COMMITS;
}

const BEGIN = "<!-- proof: written by `make proof` -->";
const END = "<!-- end of proof -->";
const HEAD = "| Part | Passed | Failed | Tried | Took | Date | Commit | Machine |\n|---|---|---|---|---|---|---|---|";

/** The rows of the table in the document. */
export function readRows(document: string): Row[] {
  const { block } = split(document);
  if (!block.trim().startsWith(HEAD)) throw new Error("The table of the proof has another header.");
  const lines = block
    .trim()
    .slice(HEAD.length)
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => {
    const [, part = "", , , , , date = "", commit = ""] = line.split("|").map((cell) => cell.trim());
    return { part, date, commit, line };
  });
}

export function writeRows(document: string, rows: readonly Row[]): string {
  const { before, after } = split(document);
  return `${before}${BEGIN}\n\n${[HEAD, ...rows.map(({ line }) => line)].join("\n")}\n\n${END}${after}`;
}

function split(document: string): { readonly before: string; readonly block: string; readonly after: string } {
  const [before, rest, ...more] = document.split(BEGIN);
  const [block, after, ...evenMore] = rest?.split(END) ?? [];
  if (before === undefined || block === undefined || after === undefined || more.length + evenMore.length > 0) {
    throw new Error("The document needs each of the two markers of the proof once.");
  }
  return { before, block, after };
}

export function rowOf({ part, passed, failed, figures, seconds, date, commit, machine }: Result): Row {
  const grouped = (count: number): string => count.toLocaleString("en-US");
  const tried = Object.entries(figures).map(([name, count]) => `${grouped(count)} ${name}`);
  const cells = [
    part,
    grouped(passed),
    grouped(failed),
    tried.join(", "),
    `${grouped(seconds)} s`,
    date,
    commit,
    machine,
  ];
  return { part, date, commit, line: `| ${cells.join(" | ")} |` };
}
