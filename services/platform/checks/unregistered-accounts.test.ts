import { expect, test } from "vitest";
import { MINUTE_MS } from "#kernel/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { runCheck } from "#kernel/reconcile/run-check.ts";
import { insertChecks, listChecks } from "#kernel/reconcile/store.ts";
import { AccountKind, type ManagedAccount } from "#proto/pamm/account/v1/account.ts";
import { reviewUnknownAccounts } from "../jobs/review-unknown-accounts.ts";
import { registryFake } from "../testing/owners.ts";
import { aDeposit } from "../testing/requests.ts";
import { decideBoth, openReviews, reviewOf } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, type Instance } from "../testing/world.ts";
import { type Registry, REGISTERED_WITHIN_MS, unregisteredAccounts } from "./unregistered-accounts.ts";

/** One run of the check, and of the job that opens and closes reviews. */
async function look({ deps }: Instance, registrations: Registry): Promise<{ login: string; message: string }[]> {
  const check = unregisteredAccounts({ ...deps, registrations });
  await insertChecks(deps.pool, [check]);
  await runCheck(deps, check, undefined);
  await reviewUnknownAccounts(deps);
  return await many(
    deps.pool,
    sql`select login, message from reconciliation_break where closed_at is null order by login`,
  );
}

/** As if the accounts had been taken under management earlier. */
async function age({ deps: { pool } }: Instance, ms: number): Promise<void> {
  await pool.query(`update account set managed_at = managed_at - interval '${ms} milliseconds'`);
}

test.concurrent("an account that the account service has lost is a break and a review until it is registered again", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const [lost, known] = [await anAccount(instance), await anAccount(instance, "master")];
  await instance.service.transfer(aDeposit(lost, 40_00n), aCall());
  await age(instance, REGISTERED_WITHIN_MS + MINUTE_MS);
  const unknown = new Set<string>();
  const asked: ManagedAccount[] = [];
  const registrations: Registry = async (request, call) => {
    asked.push(...request.accounts);
    return await registryFake(unknown)(request, call);
  };
  expect(await look(instance, registrations)).toEqual([]);
  expect(asked.map(({ login, kind }) => [login, kind])).toEqual([
    [lost, AccountKind.INVESTOR],
    [known, AccountKind.MASTER],
  ]);

  unknown.add(lost);
  expect(await look(instance, registrations)).toEqual([
    {
      login: lost,
      message: expect.stringMatching(
        `Account ${lost} in group .* as an Investor account, and is not registered as such; its log has 40.00`,
      ),
    },
  ]);
  expect((await openReviews(instance)).map(({ reason, login }) => [reason, login])).toEqual([
    ["unregistered_account", lost],
  ]);

  // Registered again, lost again, registered again.
  unknown.clear();
  expect(await look(instance, registrations)).toEqual([]);
  expect(await openReviews(instance)).toEqual([]);
  unknown.add(lost);
  expect(await look(instance, registrations)).toMatchObject([{ login: lost }]);
  expect(await openReviews(instance)).toMatchObject([{ login: lost }]);
});

test.concurrent("an account whose registration may not have ended is no break yet", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const login = await anAccount(instance);
  const registrations = registryFake(new Set([login]));
  expect(await look(instance, registrations)).toEqual([]);
  await age(instance, REGISTERED_WITHIN_MS);
  expect(await look(instance, registrations)).toMatchObject([{ login }]);
});

test.concurrent("an account that operators have acknowledged is no break any more", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const login = await anAccount(instance);
  await age(instance, REGISTERED_WITHIN_MS);
  const registrations = registryFake(new Set([login]));
  expect(await look(instance, registrations)).toMatchObject([{ login }]);
  await decideBoth(instance, await reviewOf(instance, "unregistered_account"), { action: "acknowledge" });
  expect(await look(instance, registrations)).toEqual([]);
  expect(await openReviews(instance)).toEqual([]);
});

test.concurrent("while the account service does not answer, the check fails and the breaks stay", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const login = await anAccount(instance);
  await age(instance, REGISTERED_WITHIN_MS);
  await look(instance, registryFake(new Set([login])));
  const away: Registry = () => Promise.reject(new Error("away"));
  expect(await look(instance, away)).toMatchObject([{ login }]);
  expect((await listChecks(instance.deps.pool)).map(({ error }) => error !== "")).toEqual([true]);
});

test.concurrent("a run reads ten thousand accounts, and the next one continues behind them and reads breaks again", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { pool } = instance.deps;
  await pool.query(
    `insert into account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor, managed_at)
     select (5000000 + number)::text, 'investor', 'demo', now(), 0, number, 0, now() - interval '1 day'
     from generate_series(1, 10001) as number`,
  );
  const [first, last] = ["5000001", "5010001"];
  const calls: number[] = [];
  const registrations: Registry = async (request, call) => {
    calls.push(request.accounts.length);
    return await registryFake(new Set([first, last]))(request, call);
  };
  expect(await look(instance, registrations)).toMatchObject([{ login: first }]);
  expect(calls).toEqual(Array.from({ length: 10 }, () => 1_000));
  calls.length = 0;
  expect(await look(instance, registrations)).toMatchObject([{ login: first }, { login: last }]);
  expect(calls).toEqual([2]);
});
