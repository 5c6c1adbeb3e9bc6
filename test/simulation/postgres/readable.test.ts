import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSchema } from "./database.ts";

const SERVICES = new URL("../../../services/", import.meta.url);
const STATEMENT = /sql`((?:[^`\\]|\\.)*)`/g;
const PARAMETER = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g;
/** A constant, or a function whose body is one fragment. */
const NAMED_FRAGMENT = /(?:const (\w+) = |function (\w+)\([^)]*\): Fragment \{\s*return )fragment`((?:[^`\\]|\\.)*)`/g;
/** Rows that are bound as a table, with its columns and their types. */
const ROWS = /\$\{unnest\((?:[^{}]|\{[^{}]*\})*\}((?: with ordinality)? as \w+) \(([^)]*)\)/g;
const USE = /\$\{(\w+)(?:\([^{}]*\))?\}/g;

type Fragments = ReadonlyMap<string, string>;

function fragmentsIn(source: string): Fragments {
  return new Map(
    Array.from(source.matchAll(NAMED_FRAGMENT), ([, constant, name = "", text = ""]) => [constant ?? name, text]),
  );
}

function tableOf(alias: string, list: string): string {
  const columns = list.split(",").map((column) => column.trim().split(" "));
  const arrays = columns.flatMap(([, type]) => (type === undefined ? [] : `\${null}::${type}[]`));
  return `unnest(${arrays.join(", ")})${alias} (${columns.map(([name]) => name).join(", ")})`;
}

/** Statements as the `sql` tag makes them: every value is a parameter, and a fragment is its text, that of the same file first. */
function statementsIn(source: string, imported: Fragments): readonly string[] {
  const own = fragmentsIn(source);
  const expand = (text: string): string =>
    text
      .replaceAll(ROWS, (_, alias: string, list: string) => tableOf(alias, list))
      .replaceAll(USE, (use, name: string) => {
        const fragment = own.get(name) ?? imported.get(name);
        return fragment === undefined ? use : expand(fragment);
      });
  return Array.from(source.matchAll(STATEMENT), ([, text = ""]) => {
    let parameters = 0;
    return expand(text).replaceAll(PARAMETER, () => `$${(parameters += 1)}`);
  });
}

/** A query that is composed while the service runs cannot be put together from the source: histories show whether it can be read. */
function isWhole(statement: string): boolean {
  return !/\$\{|\bfrom \$\d|any\(array\(\$|with \w+ as \(\$/.test(statement);
}

/** A function of the migrations that only the retention calls, which no history runs. */
const REMOVES_OLD = /^select remove_released_locks\(/;

/** Without this test, the first history with an unreadable statement would fail with a less clear message. */
test.each(["platform", "subscription", "fee"])(
  "the simulated Postgres can read every statement of %s",
  async (service) => {
    const { compiled } = readSchema(service);
    const folders = [`${service}/store/*.ts`, "kernel/feed/*.ts", "kernel/postgres/lease.ts"];
    const files = globSync(folders, { cwd: SERVICES.pathname }).filter((file) => !/[.]test[.]ts$|[/]test-/.test(file));
    const sources = files.map((file) => readFileSync(new URL(file, SERVICES), "utf8"));
    const fragments = fragmentsIn(sources.join("\n"));
    const written = sources.flatMap((source) => statementsIn(source, fragments));
    const statements = written.filter((statement) => isWhole(statement) && !REMOVES_OLD.test(statement));
    for (const statement of statements) compiled(statement);
    expect(statements.length).toBeGreaterThan(40);
  },
);
