import { csvCell, harmless } from "../../kernel/values/csv.ts";

export type Lines = readonly (readonly string[])[];

/** RFC 4180, with a byte order mark, without which Excel reads another encoding. */
export function csvOf(lines: Lines): string {
  return `\uFEFF${lines.map((line) => line.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

/** For the clipboard. Tabs and line ends within a value become spaces. */
export function tsvOf(lines: Lines): string {
  return lines.map((line) => line.map((value) => harmless(value.replaceAll(/[\t\r\n]+/g, " "))).join("\t")).join("\n");
}
