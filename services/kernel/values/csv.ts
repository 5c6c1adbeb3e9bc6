const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
/** A spreadsheet takes a cell that begins so for a formula, also after blanks and with signs of full width. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;
/** RFC 4180: these need quotes. */
const SPECIAL = /[",\r\n]/;

/** The value as text in a spreadsheet: stored text never becomes a formula there, and numbers stay numbers. */
export function harmless(value: string): string {
  return FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
}

export function csvCell(value: string): string {
  const text = harmless(value);
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
