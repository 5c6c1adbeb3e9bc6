import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { fileMovements } from "../processes/filing/file-movements.ts";
import { expectBooksToReconcile } from "../testing/books.ts";
import { deposit } from "../testing/funding.ts";
import { getAccount } from "#test/support/platform-fake/ledger.ts";
import { anInvestor, aWorld } from "../testing/world.ts";
import { readGaps } from "../processes/filing/catch-up.ts";

test("an entry received out of order is filed after the missing entries before it were read", async () => {
  const world = await aWorld();
  const login = anInvestor(world, 100_00n);
  for (let number = 0; number < 5; number += 1) await deposit(world, login, 1_00n);
  const last = getAccount(world.platform.ledger, login).log.at(-1)!;
  await inTransaction(world.deps.pool, (tx) => fileMovements(tx, world.deps, [last]));
  const filed = sql`select filed_number as filed, received_number as received, outside_minor as outside from investor_account`;
  expect(await many(world.deps.pool, filed)).toEqual([{ filed: -1n, received: last.number, outside: 0n }]);
  await readGaps(world.deps);
  expect(await many(world.deps.pool, filed)).toEqual([{ filed: last.number, received: last.number, outside: 105_00n }]);
  await expectBooksToReconcile(world);
});

test("a log that cannot be read does not stop the others", async () => {
  const world = await aWorld();
  const [unreadable, readable] = [anInvestor(world, 100_00n), anInvestor(world, 100_00n)] as [string, string];
  const late = [unreadable, readable].map((login) => getAccount(world.platform.ledger, login).log.at(-1)!);
  await inTransaction(world.deps.pool, (tx) => fileMovements(tx, world.deps, late));
  const readLog: typeof world.platform.client.readLog = async (request, context) => {
    if (request.login === unreadable) throw new Error("cannot be read");
    return await world.platform.client.readLog(request, context);
  };
  await readGaps({ ...world.deps, platform: { ...world.platform.client, readLog } });
  const rows = await many(
    world.deps.pool,
    sql`select login, filed_number as filed from investor_account order by login`,
  );
  expect(rows).toEqual([
    { login: unreadable, filed: -1n },
    { login: readable, filed: 1n },
  ]);
});
