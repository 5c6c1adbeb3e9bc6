import { csvCell } from "#kernel/values/csv.ts";
import type { JsonNumber } from "./number.ts";

/** A number is written as it is, null as nothing. */
export type CsvValue = string | bigint | JsonNumber | null;
export type CsvRow = readonly CsvValue[];

const END_OF_ROW = "\r\n";
/** Rows as RFC 4180 has them, each with its end. */
export function csvText(rows: readonly CsvRow[]): string {
  return rows.map((row) => row.map(valueText).join(",") + END_OF_ROW).join("");
}

function valueText(value: CsvValue): string {
  if (value === null) return "";
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "string") return value.rawJSON;
  return csvCell(value);
}
