import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { money } from "./money.ts";
import { platform } from "./platform.ts";
import { service } from "./service.ts";

export const DASHBOARDS = { money, platform, service };

/** The file that Grafana reads. */
export function textOf(dashboard: object): string {
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, "gen");
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(DASHBOARDS)) {
    writeFileSync(join(folder, `${name}.json`), textOf(content));
  }
}
