import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const ROOT = join(import.meta.dirname, "../..");
const CLIENT = join(ROOT, "services/client");
const COMPILER = join(ROOT, "node_modules/.bin/tsc");

/** Compiles the client and packs it as it is published. Returns the path of the archive. */
export function packClient(folder: string): string {
  const staged = join(folder, "package");
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true });
  run(COMPILER, ["-p", join(CLIENT, "tsconfig.json"), "--outDir", join(staged, "dist")]);
  copyFileSync(join(CLIENT, "README.md"), join(staged, "README.md"));
  // The folder of the sources is private, so that it is not published by mistake.
  const { private: _, ...manifest } = JSON.parse(readFileSync(join(CLIENT, "package.json"), "utf8")) as object & {
    readonly private: boolean;
  };
  writeFileSync(join(staged, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const printed = run("npm", ["pack", staged, "--pack-destination", folder, "--ignore-scripts", "--silent"]);
  return join(folder, printed.trim());
}

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

if (import.meta.main) {
  process.stdout.write(`${packClient(join(ROOT, ".cache/client"))}\n`);
}
