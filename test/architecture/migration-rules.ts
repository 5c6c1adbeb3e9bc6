import { dirname, join } from "node:path";

/** A migration by name, as its file contains it. */
export type Migration = { readonly name: string; readonly text: string };

type Statement = {
  readonly text: string;
  /** The table that it changes, or builds an index of. */
  readonly table: string | undefined;
};

type Rule = {
  readonly isBroken: (statement: string, context: Context) => boolean;
  readonly instead: string;
};

type Context = {
  readonly table: string | undefined;
  readonly isOutside: boolean;
  /** Whether a statement of an earlier file contains the text. */
  readonly wasBefore: (text: string) => boolean;
  /** Whether a statement of the same file does. */
  readonly isBeside: (text: string) => boolean;
};

const CONSTRAINT = /\badd (?:constraint (\w+) )?(?:foreign key|check)\b/;

/** While these statements run, all others on the table wait, for as long as it takes to read or rewrite its rows. */
const RULES: readonly Rule[] = [
  {
    isBroken: (text) => CONSTRAINT.test(text) && !text.includes("not valid"),
    instead: "add the constraint with `not valid`, and validate it in a later file",
  },
  {
    isBroken: (text, { isBeside }) => {
      const [, name] = /\bvalidate constraint (\w+)/.exec(text) ?? [];
      return name !== undefined && isBeside(`add constraint ${name} `);
    },
    instead: "validate the constraint in a later file: the lock of this one lasts until its end",
  },
  {
    isBroken: (text) =>
      /\badd (?:constraint \w+ )?(?:unique|primary key)\b/.test(text) && !text.includes("using index"),
    instead:
      "build the index in a file of its own with `create unique index concurrently`, and add the constraint `using index`",
  },
  {
    isBroken: (text) => /\badd column\b.*\b(?:references|check|unique|primary key|generated)\b/.test(text),
    instead: "add the column alone; its constraint follows with `not valid`, its index in a file of its own",
  },
  {
    isBroken: (text) => /\balter (?:column )?\w+ (?:set data )?type\b/.test(text),
    instead: "add another column, copy by a job, and read it in a later version",
  },
  {
    isBroken: (text, { table, wasBefore }) => {
      const [, column] = /\balter (?:column )?(\w+) set not null\b/.exec(text) ?? [];
      return column !== undefined && !wasBefore(`validate constraint ${table}_${column}_not_null`);
    },
    instead:
      "first validate a constraint <table>_<column>_not_null with this check, in an earlier file: Postgres then reads no rows",
  },
  {
    isBroken: (text) => /^create (?:unique )?index (?!concurrently)/.test(text),
    instead: "build the index with `create index concurrently`, in a file that begins with `-- outside a transaction`",
  },
  {
    isBroken: (text) => /^(?:update|delete from|truncate)\b/.test(text),
    instead: "change rows by a job of the service, in batches",
  },
];

/** What the previous version of the service, which runs beside the new one and after a way back, would miss or not know. */
const CONTRACT_RULES: readonly Rule[] = [
  {
    isBroken: (text) =>
      /^drop (?:table|view|function|type|sequence)\b|^alter table\b.*\bdrop (?:column )?(?!constraint\b|not null\b|default\b)\w+/.test(
        text,
      ) && !/\balter (?:column )?\w+ drop (?:not null|default)\b/.test(text),
    instead: "keep it: the previous version still uses it",
  },
  {
    isBroken: (text) => /^alter \w+ .*\brename\b|^alter \w+ .*\bset schema\b/.test(text),
    instead: "keep the name: the previous version still uses it",
  },
  {
    isBroken: (text) =>
      /\badd (?:column )?(?!constraint\b|check\b|foreign\b|unique\b|primary\b)\w+ .*\bnot null\b/.test(text) &&
      !/\bdefault\b/.test(text),
    instead: "give the required column a default: the previous version inserts rows without it",
  },
];

/** Rules of a file, whatever its tables. */
const FILE_RULES: readonly Rule[] = [
  {
    isBroken: (text, { isOutside }) => /^create (?:unique )?index concurrently/.test(text) && !isOutside,
    instead: "begin the file with `-- outside a transaction`",
  },
  {
    isBroken: (text) => /\b(?:lock_timeout|statement_timeout)\b|^lock\b/.test(text),
    instead: "leave time-outs of locks to the runner (services/kernel/postgres/apply-migration.ts)",
  },
];

/** What the migrations of one service do to tables that exist, after the first file, and what to do instead. */
export function migrationMistakes(migrations: readonly Migration[]): string[] {
  const files = migrations.map(({ text }) => statementsOf(text));
  return migrations.slice(1).flatMap(({ name, text }, position) => {
    const statements = files[position + 1] ?? [];
    const earlier = files.slice(0, position + 1).flat();
    const fresh = new Set(statements.flatMap((statement) => /^create table (\w+)/.exec(statement.text)?.[1] ?? []));
    return statements.flatMap((statement) => {
      const context: Context = {
        table: statement.table,
        isOutside: text.startsWith("-- outside a transaction\n"),
        wasBefore: (wanted) => earlier.some((other) => other.text.includes(wanted)),
        isBeside: (wanted) => statements.some((other) => other.text.includes(wanted)),
      };
      const isNew = statement.table !== undefined && fresh.has(statement.table);
      const rules = isNew ? FILE_RULES : [...RULES, ...CONTRACT_RULES, ...FILE_RULES];
      return rules
        .filter(({ isBroken }) => isBroken(statement.text, context))
        .map(({ instead }) => `${name}: ${statement.text.slice(0, 80)}: ${instead}`);
    });
  });
}

/** In lower case, without comments and the bodies of functions. */
function statementsOf(text: string): Statement[] {
  const plain = text
    .replaceAll(/\$\$[\s\S]*?\$\$/g, "''")
    .replaceAll(/--.*$/gm, "")
    .toLowerCase();
  return plain
    .split(";")
    .map((statement) => statement.trim().replaceAll(/\s+/g, " "))
    .filter((statement) => statement !== "")
    .map((statement) => ({ text: statement, table: tableOf(statement) }));
}

function tableOf(statement: string): string | undefined {
  return /^(?:alter table (?:only |if exists )*|create (?:unique )?index (?:.*? )?on |update |delete from |truncate )(\w+)/.exec(
    statement,
  )?.[1];
}

type Read = (path: string) => string | undefined;

const INCLUDE = /^\\ir (\S+)$/gm;

/** The paths of released migrations whose text, with what they include, is another one now. */
export function editedMigrations(paths: readonly string[], released: Read, present: Read): string[] {
  return paths.filter((path) => wholeText(path, released) !== wholeText(path, present));
}

function wholeText(path: string, read: Read): string | undefined {
  return read(path)?.replaceAll(INCLUDE, (_, included: string) =>
    String(wholeText(join(dirname(path), included), read)),
  );
}
