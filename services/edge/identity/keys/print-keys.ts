import type { KeySystem } from "../store/api-keys.ts";
import { type ListedKeys, stateOf } from "./manage-keys.ts";
import { SCOPES } from "./scopes.ts";

const HEADINGS = ["ID", "NAME", "ENV", "STATE", "CREATED", "EXPIRES", "LAST USED", "SCOPES", "DUPLICATES", "ADDRESSES"];

/** One line for each key, without its secret; the bootstrap key, which is no row of the database, is the first. */
export function printKeys({ keys, system }: ListedKeys, at: Date): string {
  const stored = keys.map((key) => [
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
  const rows = system?.hasBootstrapKey === true ? [bootstrapRow(system), ...stored] : stored;
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

function bootstrapRow({ environment, bootstrapUsedAt }: KeySystem): string[] {
  const scopes = SCOPES.join(",");
  return [
    "bootstrap",
    "bootstrap",
    environment,
    "active",
    "at start",
    "never",
    minute(bootstrapUsedAt),
    scopes,
    "allow",
    "any",
  ];
}

function minute(date: Date | null): string {
  return date === null ? "never" : `${date.toISOString().slice(0, 16)}Z`;
}
