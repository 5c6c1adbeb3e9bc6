/** The result of one run of a part of `make proof`. */
export type Row = {
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

/** What a row is compared with, to see how old it is. */
export type Now = {
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

/** The rows of the table in the document; throws on a line in another format than that of `writeRows`. */
export function readRows(document: string): Row[] {
  const { block } = split(document);
  const [first = "", second = "", ...lines] = block.trim().split("\n");
  if (`${first}\n${second}` !== HEAD) throw new Error("The table of the proof has another header.");
  return lines.map((line) => {
    const row = readRow(line);
    if (row === undefined || formatRow(row) !== line) throw new Error(`This is not a row of the proof: ${line}`);
    return row;
  });
}

export function writeRows(document: string, rows: readonly Row[]): string {
  const { before, after } = split(document);
  return `${before}${BEGIN}\n\n${[HEAD, ...rows.map(formatRow)].join("\n")}\n\n${END}${after}`;
}

function split(document: string): { readonly before: string; readonly block: string; readonly after: string } {
  const [before, rest, ...more] = document.split(BEGIN);
  const [block, after, ...evenMore] = rest?.split(END) ?? [];
  if (before === undefined || block === undefined || after === undefined || more.length + evenMore.length > 0) {
    throw new Error("The document needs each of the two markers of the proof once.");
  }
  return { before, block, after };
}

function formatRow({ part, passed, failed, figures, seconds, date, commit, machine }: Row): string {
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
  return `| ${cells.join(" | ")} |`;
}

const ROW =
  /^\| (?<part>[a-z]+) \| (?<passed>[\d,]+) \| (?<failed>[\d,]+) \| (?<tried>.*) \| (?<seconds>[\d,]+) s \| (?<date>\d{4}-\d\d-\d\d) \| (?<commit>[0-9a-f]{7,40}(?:-dirty)?) \| (?<machine>[^|]+) \|$/;
const FIGURE = /^(?<count>[\d,]+) (?<name>[a-z -]+)$/;

function readRow(line: string): Row | undefined {
  const found = ROW.exec(line)?.groups;
  if (found === undefined) return undefined;
  const { part = "", passed = "", failed = "", tried = "", seconds = "", date = "", commit = "", machine = "" } = found;
  // A comma with a space separates figures; a comma without a space groups digits.
  const figures = tried.split(", ").flatMap((text) => {
    const figure = FIGURE.exec(text)?.groups;
    return figure === undefined ? [] : [[figure["name"] ?? "", ungrouped(figure["count"] ?? "")] as const];
  });
  return {
    part,
    passed: ungrouped(passed),
    failed: ungrouped(failed),
    figures: Object.fromEntries(figures),
    seconds: ungrouped(seconds),
    date,
    commit,
    machine,
  };
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

function ungrouped(text: string): number {
  return Number(text.replaceAll(",", ""));
}
