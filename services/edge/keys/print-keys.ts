import type { StoredKey } from "../store/api-keys.ts";
import { stateOf } from "./manage-keys.ts";

const HEADINGS = ["ID", "NAME", "ENV", "STATE", "CREATED", "EXPIRES", "LAST USED", "SCOPES", "DUPLICATES", "ADDRESSES"];

/** One line for each key, without its secret. */
export function printKeys(keys: readonly StoredKey[], at: Date): string {
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.environment,
    stateOf(key, at),
    minute(key.createdAt),
    minute(key.expiresAt),
    minute(key.lastUsedAt),
    key.scopes.join(","),
    key.duplicateComment,
    key.allowedAddresses.join(",") || "any",
  ]);
  const widths = HEADINGS.map((heading, column) => {
    return Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0));
  });
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [HEADINGS, ...rows].map(line).join("\n");
}

function minute(date: Date | null): string {
  return date === null ? "never" : `${date.toISOString().slice(0, 16)}Z`;
}
