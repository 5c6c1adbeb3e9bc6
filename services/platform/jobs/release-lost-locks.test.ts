import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { aCall, anAccount, aWorld, type Instance } from "../testing/world.ts";
import { releaseLostLocks } from "./release-lost-locks.ts";

/** As if they had been granted a minute ago. */
async function age({ deps }: Instance): Promise<void> {
  await deps.pool.query("update account set lock_granted_at = lock_granted_at - interval '1 minute'");
}

function run({ deps }: Instance, recorded: readonly string[]): Promise<boolean> {
  return releaseLostLocks({
    ...deps,
    findLockOwners: async ({ lockOwners }) => ({ lockOwners: lockOwners.filter((each) => recorded.includes(each)) }),
  });
}

const held = ({ deps }: Instance) =>
  many(deps.pool, sql`select locked_by as owner from account where locked_by is not null order by locked_by`);

test("a lock whose owner subscription has lost is released for good after a while, and no other one", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const owners = ["exit:5:1", "withdrawal:7:1", "funding:7:1", "subscription:assign:5:1"];
  const logins: string[] = [];
  for (const lockOwner of owners) {
    const login = await anAccount(instance);
    await instance.service.hold({ login, lockOwner }, aCall());
    logins.push(login);
  }
  const recorded = ["exit:5:1"];
  await run(instance, recorded);
  expect(await held(instance)).toHaveLength(4);
  await age(instance);
  await run(instance, recorded);

  expect(await held(instance)).toEqual([{ owner: "exit:5:1" }, { owner: "funding:7:1" }]);
  await expect(
    instance.service.hold({ login: logins[1]!, lockOwner: "withdrawal:7:1" }, aCall()),
  ).rejects.toMatchObject({
    code: "lock_not_owned",
  });
  await instance.service.hold({ login: logins[1]!, lockOwner: "exit:5:3" }, aCall());
});

test("an owner that is recorded while it is asked for keeps its lock", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start();
  const login = await anAccount(instance);
  await instance.service.hold({ login, lockOwner: "exit:5:2" }, aCall());
  await age(instance);
  let asked = 0;
  const findLockOwners = async ({ lockOwners }: { lockOwners: string[] }) => ({
    lockOwners: (asked += 1) === 1 ? [] : lockOwners,
  });
  await releaseLostLocks({ ...instance.deps, findLockOwners });
  expect(asked).toBe(2);
  expect(await held(instance)).toEqual([{ owner: "exit:5:2" }]);
});
