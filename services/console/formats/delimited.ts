const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
/** A spreadsheet takes a cell that begins so for a formula. */
const FORMULA = /^[\s]*[=+\-@＝＋－＠\t\r]/;

/** The value as text in a spreadsheet: stored text never becomes a formula there, and numbers stay numbers. */
export function harmless(value: string): string {
  return FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
}

export type Lines = readonly (readonly string[])[];

/** RFC 4180, with a byte order mark, without which Excel reads another encoding. */
export function csvOf(lines: Lines): string {
  const cell = (value: string): string => {
    const safe = harmless(value);
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `\uFEFF${lines.map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`;
}

/** For the clipboard. Tabs and line ends within a value become spaces. */
export function tsvOf(lines: Lines): string {
  return lines.map((line) => line.map((value) => harmless(value.replaceAll(/[\t\r\n]+/g, " "))).join("\t")).join("\n");
}
