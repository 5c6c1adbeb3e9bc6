import { expect, test } from "vitest";
import { column, execute, many, sql } from "#kernel/postgres/query.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { fenceUndecided, lockAccount, readAgainFrom } from "../../store/accounts.ts";
import { aDeal } from "../../testing/deals.ts";
import { aManagedLogin, SERVER } from "../../testing/rows.ts";
import { aWorld } from "../../testing/world.ts";
import { fileHistory } from "./read-history.ts";

const LOGINS = ["1", "2", "3"];
/** A little later than the opening balances. */
const AT_MS = 60_000;

test.concurrent("the deals of several logins are filed by one commit, each in the order of its history", async (context) => {
  const { deps } = await (await aWorld(context)).start({ hasJobs: false });
  for (const login of LOGINS) await aManagedLogin(deps.pool, login, { role: "master" });
  const at = new Date(Date.now() + AT_MS);
  const deals = LOGINS.flatMap((login, index) => [
    aDeal({ login, ticket: BigInt(index + 10), at }),
    aDeal({ login, ticket: BigInt(index + 20), at }),
  ]);

  await fileHistory(deps, deals, { since: new Date(), from: new Date() });

  expect(await listFiled(deps.pool)).toEqual(
    LOGINS.map((login, index) => ({ login, deals: [BigInt(index + 10), BigInt(index + 20)] })),
  );
  const commits = sql`select distinct xmin::text from log_entry where number > 0`;
  expect(await many(deps.pool, commits)).toHaveLength(1);
});

test.concurrent("a login whose deals cannot be filed is read again, and does not stop the others", async (context) => {
  const { deps } = await (await aWorld(context)).start({ hasJobs: false });
  for (const login of LOGINS) await aManagedLogin(deps.pool, login, { role: "master" });
  // An entry beyond the end of its log.
  await execute(
    deps.pool,
    sql`insert into log_entry (login, number, kind, amount_minor, server, deal_id, deal_at)
        values ('2', 1, 'external', 5, ${SERVER}, 70, now())`,
  );
  const [from, at] = [new Date(), new Date(Date.now() + AT_MS)];
  const deals = LOGINS.map((login, index) => aDeal({ login, ticket: BigInt(index + 10), at }));

  await fileHistory(deps, deals, { since: from, from });

  expect(await listFiled(deps.pool)).toEqual([
    { login: "1", deals: [10n] },
    { login: "2", deals: [70n] },
    { login: "3", deals: [12n] },
  ]);
  const undecided = sql`select login, undecided_from as "from" from account where undecided_from is not null`;
  expect(await many(deps.pool, undecided)).toEqual([{ login: "2", from }]);
});

test.concurrent("a login whose account is locked is filed afterwards, and does not delay the others", async (context) => {
  const { deps } = await (await aWorld(context)).start({ hasJobs: false });
  for (const login of LOGINS) await aManagedLogin(deps.pool, login, { role: "master" });
  const [from, at] = [new Date(), new Date(Date.now() + AT_MS)];
  const deals = LOGINS.map((login, index) => aDeal({ login, ticket: BigInt(index + 10), at }));
  const filing = await inTransaction(deps.pool, async (tx) => {
    await lockAccount(tx, "2");
    const started = fileHistory(deps, deals, { since: from, from });
    await waitFor(async () => expect(await listFiled(deps.pool)).toMatchObject([{ login: "1" }, { login: "3" }]));
    return { started };
  });

  await filing.started;

  expect(await listFiled(deps.pool)).toMatchObject([{ login: "1" }, { login: "2", deals: [11n] }, { login: "3" }]);
});

test.concurrent("an account that may lack deals stays fenced until its history was read alone up to now, and only a part of it is no proof", async (context) => {
  const { deps } = await (await aWorld(context)).start({ hasJobs: false });
  for (const login of LOGINS) await aManagedLogin(deps.pool, login, { role: "master" });
  const [from, at] = [new Date(), new Date(Date.now() + AT_MS)];
  await readAgainFrom(deps.pool, "2", from);
  await inTransaction(deps.pool, fenceUndecided);
  const fenced = () => column<string>(deps.pool, sql`select login from account where may_lack_deals`);
  const deals = [aDeal({ login: "2", ticket: 10n, at })];

  expect(await fenced()).toEqual(["2"]);
  await fileHistory(deps, deals, { since: from, from });
  expect(await fenced()).toEqual(["2"]);
  await fileHistory(deps, deals, { since: from, from, to: new Date(at.getTime() + 1) });
  expect(await fenced()).toEqual(["2"]);
  await fileHistory(deps, deals, { since: from, from, isWhole: true }, ["2"]);
  expect(await fenced()).toEqual([]);
  expect(await listFiled(deps.pool)).toEqual([{ login: "2", deals: [10n] }]);
});

async function listFiled(pool: Pool): Promise<{ login: string; deals: bigint[] }[]> {
  return await many(
    pool,
    sql`select login, array_agg(deal_id order by number) as deals from log_entry where number > 0 group by login order by login`,
  );
}
