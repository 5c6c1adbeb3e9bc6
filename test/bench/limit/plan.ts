import type pg from "pg";

/** The rows that the plan of a week has made, by table; each newer than these marks. */
type Table = { readonly schema: "subscription" | "fee"; readonly name: string; readonly condition: string };

const SCHEMA = "bench_plan";

/** What the plan of a week inserts. `runs` is the largest id of a run before. */
function tablesOf(runs: string): readonly Table[] {
  return [
    { schema: "subscription", name: "pair", condition: "true" },
    { schema: "subscription", name: "layer", condition: "true" },
    { schema: "subscription", name: "due_fee", condition: "true" },
    { schema: "fee", name: "fee_run", condition: `id > ${runs}` },
    { schema: "fee", name: "fee_payment", condition: `run_id > ${runs}` },
  ];
}

/** Seconds in which Postgres inserts the rows of the plan again, into tables with the same indexes: one statement a table. */
export async function insertPlanAlone(client: pg.Client, runs: string): Promise<number> {
  const tables = tablesOf(runs);
  await client.query(`drop schema if exists ${SCHEMA} cascade`);
  await client.query(`create schema ${SCHEMA}`);
  for (const { schema, name } of tables) {
    await client.query(`create table ${SCHEMA}.${name} (like ${schema}.${name} including all)`);
  }
  const startedMs = performance.now();
  await client.query("begin");
  for (const { schema, name, condition } of tables) {
    const columns = await listColumns(client, schema, name);
    await client.query(
      `insert into ${SCHEMA}.${name} (${columns}) overriding system value select ${columns} from ${schema}.${name} where ${condition}`,
    );
  }
  await client.query("commit");
  const seconds = (performance.now() - startedMs) / 1_000;
  await client.query(`drop schema ${SCHEMA} cascade`);
  return seconds;
}

/** Those that are not computed by the database. */
async function listColumns(client: pg.Client, schema: string, table: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>({
    text: `select column_name as name from information_schema.columns
           where table_schema = $1 and table_name = $2 and is_generated = 'NEVER' order by ordinal_position`,
    values: [schema, table],
  });
  return rows.map(({ name }) => name).join(", ");
}
