import { execFile } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import openapiTypescript, { astToString } from "openapi-typescript";

const COMPILER = join(import.meta.dirname, "../../node_modules/.bin/tsc");
const STRICT = [
  "--strict",
  "--noEmit",
  "--exactOptionalPropertyTypes",
  "--noUncheckedIndexedAccess",
  "--skipLibCheck",
  "false",
];
const MODULES = ["--ignoreConfig", "--module", "nodenext", "--allowImportingTsExtensions", "--types", ""];

/** The types that openapi-typescript makes of the document, and a client that uses them, pass the strict compiler. */
export async function checkClient(file: string, folder: string): Promise<string[]> {
  writeFileSync(join(folder, "openapi.ts"), astToString(await openapiTypescript(pathToFileURL(file))));
  const client = join(folder, "client.ts");
  copyFileSync(join(import.meta.dirname, "client.txt"), client);
  const args = [...STRICT, ...MODULES, client];
  const { stdout } = await promisify(execFile)(COMPILER, args).catch((error: unknown) => {
    if (error instanceof Error && "stdout" in error && error.stdout !== "") return { stdout: String(error.stdout) };
    throw error;
  });
  return stdout.split("\n").filter((line) => line !== "");
}
