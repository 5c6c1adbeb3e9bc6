import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestSystem } from "./support/system.ts";

type Entry = { readonly level: string; readonly service: string; readonly msg: string; readonly error?: unknown };

/** Log entries of all services; Postgres and the broker write other formats. */
function readLogs(stateDir: string): readonly Entry[] {
  const folder = join(stateDir, "log");
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Entry);
}

test("a clean start logs only info entries, and no error", { timeout: 200_000 }, async () => {
  await using system = await startTestSystem();

  const entries = readLogs(system.stateDir);
  expect(entries.filter(({ msg }) => msg === "started").map(({ service }) => service)).toHaveLength(7);
  expect(entries.filter(({ level, error }) => level !== "info" || error !== undefined)).toEqual([]);
});
