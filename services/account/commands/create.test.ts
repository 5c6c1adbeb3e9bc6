import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { resumeProvisionings, tidyFailed } from "../jobs/resume-provisionings.ts";
import { findAccounts } from "../queries/find-accounts.ts";
import { listInvestors, listMasters } from "../queries/list-directories.ts";
import { revealMaster } from "../queries/reveal.ts";
import { aCall, aMaster, anInvestor, usd, world, type World } from "../testing/account.ts";
import { createInvestor } from "./create-investor.ts";
import { createMaster } from "./create-master.ts";

test("a Master is a trading account and a payment account under one order", async () => {
  const deps = await world();

  const made = await createMaster(deps, aMaster(), aCall("op-1"));

  expect(made).toEqual({
    master: {
      id: 1n,
      login: "3000001",
      name: "Alpha",
      strategyName: "Trend",
      strategy: undefined,
      paymentAccountLogin: "3000002",
      minDeposit: usd(500_00n),
      createdAt: expect.any(Date),
      investorsCount: undefined,
    },
    mainPassword: deps.platform.created.get("account:trading:1")?.mainPassword,
    investorPassword: deps.platform.created.get("account:trading:1")?.investorPassword,
  });
  expect(deps.platform.created.get("account:payment:1")).toMatchObject({ group: "", login: "3000002" });
  expect(
    new Set([...deps.platform.created.values()].flatMap((one) => [one.mainPassword, one.investorPassword])).size,
  ).toBe(4);
});

test("the same command creates once and answers the same, passwords included", async () => {
  const deps = await world();

  const first = await createMaster(deps, aMaster(), aCall("op-1"));

  expect(await createMaster(deps, aMaster(), aCall("op-1"))).toEqual(first);
  expect(deps.platform.created.size).toBe(2);
});

test("twenty requests under one id create one Investor", async () => {
  const deps = await world();

  const made = await Promise.all(Array.from({ length: 20 }, () => createInvestor(deps, anInvestor(), aCall("op-1"))));

  expect(new Set(made.map(({ investor }) => investor?.login))).toEqual(new Set(["3000001"]));
  expect(await many(deps.pool, sql`select login from investor`)).toEqual([{ login: "3000001" }]);
});

test("a Master whose second account got no answer is in no directory until the job has completed it", async () => {
  const deps = await world();
  deps.platform.faults.push(undefined, "lost answer");

  await expect(createMaster(deps, aMaster(), aCall("op-1"))).rejects.toMatchObject({
    code: "outcome_unknown",
    outcome: "unknown",
    operationId: "op-1",
  });
  expect((await listMasters(deps, { afterId: 0n, limit: 10 }, aCall())).items).toEqual([]);

  await resumeLater(deps);

  expect((await listMasters(deps, { afterId: 0n, limit: 10 }, aCall())).items).toMatchObject([
    { login: "3000001", paymentAccountLogin: "3000002" },
  ]);
  expect(await revealMaster(deps, { login: "3000001" }, aCall())).toMatchObject({
    mainPassword: deps.platform.created.get("account:trading:1")?.mainPassword,
  });
  expect(deps.platform.created.size).toBe(2);
});

test("a pair that is refused for good leaves no Master, and its first account disabled", async () => {
  const deps = await world();
  deps.platform.faults.push(undefined, "group_not_allowed");

  await expect(createMaster(deps, aMaster(), aCall("op-1"))).rejects.toMatchObject({
    code: "group_not_allowed",
    outcome: "not_executed",
    errors: [{ field: "platform_group", code: "group_not_allowed" }],
  });
  await tidyFailed(deps);
  await tidyFailed(deps);

  expect(deps.platform.disabled).toEqual(["3000001"]);
  expect((await listMasters(deps, { afterId: 0n, limit: 10 }, aCall())).items).toEqual([]);
  await expect(createMaster(deps, aMaster(), aCall("op-1"))).rejects.toMatchObject({ code: "group_not_allowed" });
});

test("a platform that was never asked has created nothing, then or later", async () => {
  const deps = await world();
  deps.platform.faults.push("unreachable");

  await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject({
    code: "platform_unavailable",
    outcome: "not_executed",
  });
  await resumeLater(deps);

  expect(deps.platform.created.size).toBe(0);
  expect((await listInvestors(deps, { afterId: 0n, limit: 10 })).items).toEqual([]);
});

test("while a copy may have asked the platform, nobody says that nothing was created", async () => {
  const deps = await world();
  deps.platform.faults.push("lost answer", "unreachable");
  await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject({ outcome: "unknown" });
  await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject({ outcome: "unknown" });

  const made = await createInvestor(deps, anInvestor(), aCall("op-1"));
  expect([...deps.platform.created.values()].map(({ login }) => login)).toEqual([made.investor?.login]);
});

test("passwords are nowhere in the database but sealed", async () => {
  const deps = await world();
  const { mainPassword, investorPassword } = await createInvestor(deps, anInvestor(), aCall("op-1"));

  const { rows } = await deps.pool.query(
    "select array_agg(to_jsonb(credential)::text)::text || array_agg(to_jsonb(provisioning)::text)::text as everything from credential, provisioning",
  );

  for (const password of [mainPassword, investorPassword]) {
    expect(rows[0].everything).not.toContain(password);
    expect(rows[0].everything).not.toContain(Buffer.from(password).toString("hex"));
  }
});

test("everything that is wrong with an order is said at once", async () => {
  const deps = await world();
  const wrong = aMaster({ name: " ", strategy: "a\u0000b", leverage: 501, minDeposit: usd(-1n) });

  await expect(createMaster(deps, wrong, aCall(""))).rejects.toMatchObject({
    code: "validation_failed",
    errors: [
      { field: "command_id" },
      { field: "name", code: "required" },
      { field: "strategy", code: "control_characters" },
      { field: "leverage", code: "out_of_range" },
      { field: "min_deposit", code: "out_of_range" },
    ],
  });
});

test("accounts are known by their login, each in its one role", async () => {
  const deps = await world();
  await createMaster(deps, aMaster(), aCall("op-1"));
  await createInvestor(deps, anInvestor(), aCall("op-2"));

  const { accounts } = await findAccounts(deps, { logins: ["3000001", "3000002", "3000003", "9"] });

  expect(accounts.toSorted((a, b) => Number(a.login) - Number(b.login))).toEqual([
    { login: "3000001", kind: 1, id: 1n, name: "Alpha" },
    { login: "3000002", kind: 2, id: 1n, name: "Alpha" },
    { login: "3000003", kind: 3, id: 1n, name: "Ivy" },
  ]);
});

async function resumeLater(deps: World): Promise<void> {
  await deps.pool.query("update provisioning set next_try_at = now() - interval '1 second'");
  await resumeProvisionings(deps);
}
