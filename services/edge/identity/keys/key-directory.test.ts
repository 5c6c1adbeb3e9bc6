import { expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { rowsRead } from "#test/support/rows-read.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { listKeysByAge } from "../store/api-keys.ts";
import { keyDirectory } from "./key-directory.ts";

test("keys are listed newest first with what replaces them, and without anything that a secret was made into", async () => {
  const { pool } = await testDatabase("edge");
  await pool.query(`
    insert into api_key (id, environment, name, pepper_id, hash, scopes, allowed_addresses, replaces, client_id, created_at)
    select 'Key' || lpad(n::text, 9, '0'), 'test', 'client ' || n, 'pepper', sha256('x'), array['ops', 'later:scope'],
           case when n = 1 then array['10.0.0.1'] else array[]::text[] end,
           case when n = 2 then 'Key000000001' end, case when n = 2 then 'Key000000001' else 'Key' || lpad(n::text, 9, '0') end,
           timestamptz '2026-01-01' + n / 2 * interval '1 second'
    from generate_series(1, 2000) n`);
  const { list } = keyDirectory(pool);

  const first = await list({ afterId: undefined, limit: 3 });
  expect([first.keys.map(({ name }) => name), first.hasMore]).toEqual([
    ["client 2000", "client 1999", "client 1998"],
    true,
  ]);
  const last = await list({ afterId: "Key000000003", limit: 3 });
  expect([last.keys.map(({ name }) => name), last.hasMore, last.system]).toEqual([
    ["client 2", "client 1"],
    false,
    undefined,
  ]);
  expect(last.keys).toMatchObject([
    { replaces: "Key000000001", replacedBy: null, clientId: "Key000000001", hasAllowList: false, scopes: ["ops"] },
    { replaces: null, replacedBy: "Key000000002", hasAllowList: true },
  ]);
  expect(Object.keys(last.keys[0] ?? {}).filter((name) => /hash|pepper|address/i.test(name))).toEqual([]);
  expect((await list({ afterId: "Key000000001", limit: 3 })).keys).toEqual([]);
  await expect(list({ afterId: "nothing", limit: 3 })).rejects.toMatchObject({
    code: "invalid_cursor",
    errors: [{ field: "cursor" }],
  });

  for (const afterId of [undefined, "Key000000020"]) {
    const cost = await inTransaction(pool, (tx) =>
      rowsRead(tx, ["api_key"], async () => {
        expect(await listKeysByAge(tx, { afterId, limit: 5 })).toHaveLength(5);
      }),
    );
    expect(cost).toBeLessThan(40);
  }
});
