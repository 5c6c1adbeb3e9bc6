import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { StartupError } from "../startup-error.ts";

export type MigrationFile = {
  readonly version: number;
  readonly name: string;
  readonly sha256: string;
  readonly text: string;
  /** The index that the file builds outside a transaction. */
  readonly index: string | undefined;
};

const FILE_NAME = /^(\d{4})_([a-z0-9_-]+)\.sql$/;
/** As in psql: includes the file with this path, relative to the file that contains the line. */
const INCLUDE = /^\\ir (\S+)$/gm;
/** The first line of a file that is not executed in a transaction. */
const OUTSIDE = /^-- outside a transaction\n/;
const BUILDS_INDEX = /^create (?:unique )?index concurrently ([a-z_][a-z0-9_]*) on [^;]+;?$/;

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
    return { version, name: name.slice(0, -".sql".length), sha256, text, index: indexOf(name, text) };
  });
}

function readWithIncludes(file: URL): string {
  return readFileSync(file, "utf8").replaceAll(INCLUDE, (_line, path: string) => readWithIncludes(new URL(path, file)));
}

/** Only the building of one index can be resumed after a crash, so nothing else is executed outside a transaction. */
function indexOf(name: string, text: string): string | undefined {
  if (!OUTSIDE.test(text)) return undefined;
  const statement = text
    .replaceAll(/^--.*$/gm, "")
    .trim()
    .replaceAll(/\s+/g, " ")
    .toLowerCase();
  const index = BUILDS_INDEX.exec(statement)?.[1];
  if (index !== undefined) return index;
  throw new StartupError(
    `${name}: outside a transaction, a file has one statement: create index concurrently name on ...`,
  );
}
