import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fileIn, filesIn, readReleases } from "../support/releases.ts";
import { editedMigrations, migrationMistakes } from "./migration-rules.ts";

const ROOT = join(import.meta.dirname, "../..");
const FIRST = { name: "0001", text: "create table coin (id bigint primary key, weight bigint);" };

const mistakesOf = (...texts: readonly string[]): string[] =>
  migrationMistakes([FIRST, ...texts.map((text, index) => ({ name: `000${index + 2}`, text }))]);

test("no migration of a service holds up the writers of a table that exists", () => {
  const files = globSync("services/*/migrations/*.sql", { cwd: ROOT }).toSorted();
  const services = Map.groupBy(files, (file) => dirname(file));

  expect(services.size).toBe(6);
  for (const paths of services.values()) {
    const migrations = paths.map((path) => ({ name: basename(path), text: readFileSync(join(ROOT, path), "utf8") }));
    expect(migrationMistakes(migrations)).toEqual([]);
  }
});

test("a released migration is never edited, nor what it includes", () => {
  for (const release of readReleases()) {
    const released = filesIn(release).filter((path) => /^services\/\w+\/migrations\/\d+_\w+\.sql$/.test(path));
    expect(released.length).toBeGreaterThan(0);
    const before = (path: string): string | undefined => fileIn(release, path);
    const now = (path: string): string | undefined =>
      existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : undefined;
    expect(editedMigrations(released, before, now)).toEqual([]);
  }
});

test.each([
  ["alter table coin add constraint heavy check (weight > 0);", "with `not valid`"],
  [
    "alter table coin add constraint heavy check (weight > 0) not valid; alter table coin validate constraint heavy;",
    "in a later file",
  ],
  ["alter table coin add constraint one unique (weight);", "using index"],
  ["alter table coin add column size bigint check (size > 0);", "add the column alone"],
  ["alter table coin alter column weight type integer;", "add another column"],
  ["alter table coin alter column weight set not null;", "_not_null"],
  ["create index on coin (weight);", "create index concurrently"],
  ["create index concurrently coin_by_weight on coin (weight);", "begin the file"],
  ["-- a comment\nupdate coin set weight = 1;", "in batches"],
  ["set local lock_timeout = 0;", "to the runner"],
  ["drop table coin;", "keep it"],
  ["alter table coin drop column weight;", "keep it"],
  ["alter table coin rename to token;", "keep the name"],
  ["alter table coin add column size bigint not null;", "a default"],
])("%s is a mistake: %s", (text, instead) => {
  expect(mistakesOf(text)).toEqual([expect.stringContaining(instead)]);
});

test.each([
  [
    "a constraint that is validated later",
    "alter table coin add constraint heavy check (weight > 0) not valid;",
    "alter table coin validate constraint heavy;",
  ],
  [
    "an index beside the writers",
    "-- outside a transaction\ncreate index concurrently coin_by_weight on coin (weight);",
  ],
  [
    "a column that is not null after its check was validated",
    "alter table coin add constraint coin_weight_not_null check (weight is not null) not valid;",
    "alter table coin validate constraint coin_weight_not_null;",
    "alter table coin alter column weight set not null;",
  ],
  ["a column alone", "alter table coin add column size bigint not null default 0;"],
  [
    "what concerns a table of the same file",
    "create table dime (id bigint references coin, weight bigint check (weight > 0)); create index on dime (weight); alter table dime add check (id > 0);",
  ],
  ["the body of a function", "create function f() returns void language sql as $$ update coin set weight = 1 $$;"],
])("%s is accepted", (_, ...texts) => {
  expect(mistakesOf(...texts)).toEqual([]);
});
