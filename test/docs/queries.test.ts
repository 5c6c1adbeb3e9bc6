import { expect, test } from "vitest";
import { emptyDatabase } from "../support/database.ts";
import { migrate } from "#kernel/postgres/migrate.ts";
import { blocksOf, markdownFiles, ROOT } from "./markdown.ts";

const SERVICES = ["account", "edge", "fee", "funding", "platform", "subscription"];
const QUERIES = markdownFiles()
  .flatMap((file) => blocksOf(file))
  .filter(({ language, comment }) => language === "sql" && !comment?.startsWith("not run:"))
  .map(({ file, line, text }) => ({ where: `${file}:${line}`, text }));

test("every query of the runbook can be executed in a read-only transaction", async () => {
  const { url, pool } = await emptyDatabase("support");
  for (const schema of SERVICES) await migrate({ url, schema, folder: `${ROOT}/services/${schema}/migrations` });
  const connection = await pool.connect();
  const wrong: string[] = [];
  try {
    for (const { where, text } of QUERIES) {
      await connection.query("begin read only");
      await connection.query(text).catch((error: Error) => wrong.push(`${where}: ${error.message}`));
      await connection.query("rollback");
    }
  } finally {
    connection.release();
  }

  expect(QUERIES.length).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
});
