import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { StartupError } from "../startup-error.ts";

export type MigrationFile = {
  readonly version: number;
  readonly name: string;
  readonly sha256: string;
  readonly text: string;
};

const FILE_NAME = /^(\d{4})_([a-z0-9_-]+)\.sql$/;
/** As in psql: includes the file with this path, relative to the file that contains the line. */
const INCLUDE = /^\\ir (\S+)$/gm;

/** The files of the folder, each with the tables of the kernel that it includes. Their numbers must be 1, 2, 3 ... */
export function listMigrations(folder: URL): MigrationFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return names.toSorted().map((name, index) => {
    const version = Number(FILE_NAME.exec(name)?.[1]);
    const next = index + 1;
    if (Number.isNaN(version)) throw new StartupError(`${name}: a migration is called 0001_what_it_does.sql`);
    if (version !== next) {
      throw new StartupError(`${name}: the next migration in ${folder.pathname} has number ${next}`);
    }
    const text = readWithIncludes(new URL(name, folder));
    const sha256 = createHash("sha256").update(text).digest("hex");
    return { version, name: name.slice(0, -".sql".length), sha256, text };
  });
}

function readWithIncludes(file: URL): string {
  return readFileSync(file, "utf8").replaceAll(INCLUDE, (_line, path: string) => readWithIncludes(new URL(path, file)));
}
