import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** Imports every module of the services that defines a metric, so that the registry has all of them. */
export async function defineMetrics(): Promise<void> {
  const files = globSync("services/**/*.ts", { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .map((file) => join(ROOT, file))
    .filter((file) => readFileSync(file, "utf8").includes('from "prom-client"'));
  await Promise.all(files.map((file) => import(file)));
}
