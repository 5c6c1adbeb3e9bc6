import { expect, test } from "vitest";
import { column, execute, one, sql } from "#kernel/postgres/query.ts";
import { aWaitingLeg } from "../testing/rows.ts";
import { anAccount, aProcess, sendWaiting } from "../testing/world.ts";

/** As many as one pass sends. */
const MANY = 100;

test.concurrent.for([
  ["are stopped", "stopped_reason = 'test'"] as const,
  [
    "are locked by sagas that decide",
    "locked_by = 'saga:' || login, lock_number = 0, lock_granted_at = now()",
  ] as const,
  ["are being read", "reading_until = now() + interval '1 minute', reading_token = 'a'"] as const,
])("while a hundred accounts with a queued leg %s, another one's leg is sent", async ([, state], context) => {
  const { instance } = await aProcess(context, { hasJobs: false });
  const { pool } = instance.deps;
  const free = await anAccount(instance, "master");
  const held = Array.from({ length: MANY }, (_, index) => `${7_000_000 + index}`);
  await execute(
    pool,
    sql`insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor)
        select held.login, 'master', platform_group, reads_from, 0, log_entry_id, 0
        from account, unnest(${held}::text[]) as held (login)
        where account.login = ${free}`,
  );
  const queued = { kind: "mirror", amountMinor: 5n, isEnqueued: true } as const;
  for (const login of held) await aWaitingLeg(pool, { ...queued, key: `mirror:${login}`, login });
  await pool.query(`update account set ${state} where login <> '${free}'`);
  const number = await aWaitingLeg(pool, { ...queued, key: "mirror:free", login: free });

  await sendWaiting(instance.deps);

  expect((await one<{ state: string }>(pool, sql`select state from leg where number = ${number}`)).state).toBe(
    "APPLIED",
  );
  expect(await column(pool, sql`select distinct state from leg where login <> ${free}`)).toEqual(["INTENT"]);
});
