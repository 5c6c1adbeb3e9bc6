import type { Row } from "./run-kit.ts";

const HEAD = ["sentence", "", "expected", "observed", "result"];

/** The table in Markdown, and the sums. */
export function report(rows: readonly Row[]): string {
  const cells = rows.map(({ id, text, expected, observed, result }) => [id, text, expected, observed, result]);
  const lines = [HEAD, HEAD.map(() => "---"), ...cells].map((row) => `| ${row.map(escaped).join(" | ")} |`);
  const count = (result: Row["result"]): string => `${rows.filter((row) => row.result === result).length} ${result}`;
  return `${lines.join("\n")}\n\n${rows.length} sentences: ${count("works")}, ${count("differs")}, ${count("not tested")}\n`;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
