import { column, sql } from "#kernel/postgres/query.ts";
import { corrupt } from "#test/support/corrupt.ts";
import type { World } from "./world.ts";

/**
 * An older state of the database, of subscription too, to which it is restored with another identity; `hasWaited`: longer than calls may be under
 * way.
 */
export async function backUp({
  deps: { pool },
  subscriptions,
}: World): Promise<(hasWaited?: boolean) => Promise<void>> {
  const { books } = subscriptions;
  const tables = await column<string>(
    pool,
    sql`select table_name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  );
  const columns = new Map<string, string>();
  for (const table of tables) {
    const names = await column<string>(
      pool,
      sql`select quote_ident(column_name) from information_schema.columns
          where table_schema = current_schema() and table_name = ${table} and is_generated = 'NEVER'`,
    );
    columns.set(table, names.join(", "));
  }
  await corrupt(pool, tables.map((table) => `create table backup_${table} as table ${table}`).join(";"));
  return async (hasWaited = true) => {
    subscriptions.books = books;
    const restored = [...columns].map(
      ([table, names]) =>
        `insert into ${table} (${names}) overriding system value select ${names} from backup_${table}; drop table backup_${table}`,
    );
    await corrupt(
      pool,
      `set session_replication_role = replica; truncate ${tables.join(", ")}; ${restored.join("; ")};
       update fee_search
       set database = 'another/database', begun_in = ${hasWaited ? "database_identity()" : "null"},
           begun_at = ${hasWaited ? "clock_timestamp() - interval '1 minute'" : "null"},
           after_transfer_id = ${hasWaited ? "(select coalesce(max(transfer_id), 0) from fee_payment)" : "null"};
       set session_replication_role = origin`,
    );
  };
}
