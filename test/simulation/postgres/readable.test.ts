import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSchema } from "./database.ts";

const SERVICES = new URL("../../../services/", import.meta.url);
const STATEMENT = /sql`((?:[^`\\]|\\.)*)`/g;
const PARAMETER = /\$\{(?:[^{}]|\{[^{}]*\})*\}/g;

/** Statements as the `sql` tag makes them: every value is a parameter. */
function statementsIn(file: string): readonly string[] {
  const source = readFileSync(new URL(file, SERVICES), "utf8");
  return Array.from(source.matchAll(STATEMENT), ([, text = ""]) => {
    let parameters = 0;
    return text.replaceAll(PARAMETER, () => `$${(parameters += 1)}`);
  });
}

/** Without this test, the first history with an unreadable statement would fail with a less clear message. */
test.each(["platform", "subscription", "fee"])("the simulated Postgres can read every statement of %s", (service) => {
  const { compiled } = readSchema(service);
  const folders = [`${service}/store/*.ts`, "kernel/feed/*.ts", "kernel/postgres/lease.ts"];
  const files = globSync(folders, { cwd: SERVICES.pathname }).filter((file) => !/[.]test[.]ts$|[/]test-/.test(file));
  const statements = files.flatMap(statementsIn);
  for (const statement of statements) compiled(statement);
  expect(statements.length).toBeGreaterThan(40);
});
