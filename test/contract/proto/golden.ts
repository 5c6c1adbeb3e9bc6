import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const FOLDER = new URL("./golden/", import.meta.url);

/** Bytes that an earlier version sent, and the value that they decode to. */
export type Golden = { readonly bytes: string; readonly value: unknown };

/** All recorded messages, by full name. */
export function readGolden(): Map<string, Golden> {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
  return new Map(files.flatMap((name) => Object.entries(readPackage(name))));
}

export function writeGolden(golden: ReadonlyMap<string, Golden>): void {
  const packages = Map.groupBy(
    [...golden].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ([type]) => type.slice(0, type.lastIndexOf(".")),
  );
  for (const [name, entries] of packages) {
    writeFileSync(new URL(`${name}.json`, FOLDER), `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`);
  }
}

/** A decoded message as JSON: 64-bit integers as text with an `n`, bytes as hex, times in ISO 8601. */
export function asJson(value: unknown): unknown {
  if (typeof value === "bigint") {
    return `${value}n`;
  }
  if (value instanceof Uint8Array) {
    return Buffer.from(value).toString("hex");
  }
  if (value instanceof Date) {
    return value.toISOString();
  }
  if (Array.isArray(value)) {
    return value.map(asJson);
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asJson(member)]));
  }
  return value;
}

function readPackage(name: string): Record<string, Golden> {
  return JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as Record<string, Golden>;
}
