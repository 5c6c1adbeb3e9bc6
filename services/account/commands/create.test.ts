import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { resumeProvisionings, tidyFailed } from "../jobs/resume-provisionings.ts";
import { findAccounts, revealInvestor, revealMaster } from "../queries/find.ts";
import { aCall, aMaster, anInvestor, usd, world, type World, refusedWith } from "../testing/account.ts";
import { addInvestor } from "./add.ts";
import { createInvestor, createMaster } from "./create.ts";
import { listInvestors, listMasters } from "../queries/profiles.ts";

test("one request creates the trading account and the payment account of a Master", async () => {
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
      acceptingInvestors: true,
    },
    mainPassword: deps.platform.created.get("account:trading:op-1")?.mainPassword,
    investorPassword: deps.platform.created.get("account:trading:op-1")?.investorPassword,
  });
  expect(deps.platform.created.get("account:payment:op-1")).toMatchObject({ group: "", login: "3000002" });
  expect(
    new Set([...deps.platform.created.values()].flatMap((one) => [one.mainPassword, one.investorPassword])).size,
  ).toBe(4);
});

test("accounts that are revealed at the same time are answered each with its own passwords", async () => {
  const deps = await world();
  const made = [
    await createInvestor(deps, anInvestor(), aCall("op-1")),
    await createInvestor(deps, anInvestor({ name: "Ian" }), aCall("op-2")),
  ];
  const { master, ...passwords } = await createMaster(deps, aMaster(), aCall("op-3"));
  const logins = made.map(({ investor }) => investor?.login ?? "");

  const answers = await Promise.all(logins.map((login) => revealInvestor(deps, { login })));

  expect(answers).toEqual(made);
  expect(await revealMaster(deps, { login: master?.login ?? "" }, aCall())).toMatchObject(passwords);
  await expect(revealInvestor(deps, { login: master?.login ?? "" })).rejects.toMatchObject({
    code: "investor_not_found",
  });
});

test("twenty concurrent requests with one command id create one Investor", async () => {
  const deps = await world();

  const made = await Promise.all(Array.from({ length: 20 }, () => createInvestor(deps, anInvestor(), aCall("op-1"))));

  expect(new Set(made.map(({ investor }) => investor?.login))).toEqual(new Set(["3000001"]));
  expect(await many(deps.pool, sql`select login from investor`)).toEqual([{ login: "3000001" }]);
});

test("a Master whose second answer was lost is listed only after the recovery job has completed it", async () => {
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
    { master: { login: "3000001", paymentAccountLogin: "3000002" } },
  ]);
  expect(await revealMaster(deps, { login: "3000001" }, aCall())).toMatchObject({
    mainPassword: deps.platform.created.get("account:trading:op-1")?.mainPassword,
  });
  expect(deps.platform.created.size).toBe(2);
});

test("when the second account is refused finally, there is no Master and the first account is disabled", async () => {
  const deps = await world();
  deps.platform.faults.push(undefined, refusedWith("group_not_allowed"));

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

test.each(["refused by the platform service", "found when the Investor is inserted"])(
  "a creation whose account operators have registered since has ended, %s, and the account stays enabled",
  async (where) => {
    const deps = await world();
    const isRefused = where.startsWith("refused");
    deps.platform.faults.push(isRefused ? refusedWith("login_in_use") : undefined);
    deps.platform.existing.add("3000001");
    await addInvestor(deps, { login: "3000001", name: "Ivy" }, aCall("op-0"));
    const refused = { code: "login_in_use", outcome: "not_executed" };
    await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject(refused);
    await tidyFailed(deps);
    await resumeLater(deps);
    await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject(refused);
    expect(deps.platform.disabled).toEqual([]);
  },
);

test("a request that never reached the platform service creates nothing, then or later", async () => {
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

test("while an earlier call may have reached the platform service, no repetition is answered as not executed", async () => {
  const deps = await world();
  deps.platform.faults.push("lost answer", "unreachable");
  await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject({ outcome: "unknown" });
  await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject({ outcome: "unknown" });

  const made = await createInvestor(deps, anInvestor(), aCall("op-1"));
  expect([...deps.platform.created.values()].map(({ login }) => login)).toEqual([made.investor?.login]);
});

test("a creation that is refused while its account may exist has not ended", async () => {
  const deps = await world();
  deps.platform.faults.push(refusedWith("platform_rejected", "unknown"));
  await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject({
    code: "outcome_unknown",
    outcome: "unknown",
  });
  await resumeLater(deps);
  const { items } = await listInvestors(deps, { afterId: 0n, limit: 10 });
  expect(items).toMatchObject([{ investor: { login: "3000001" } }]);
});

test("the database contains passwords only encrypted", async () => {
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

test("a creation with several invalid fields is refused with all of them", async () => {
  const deps = await world();
  const wrong = aMaster({ name: " ", strategy: "a\u0000b", leverage: 5_001, minDeposit: usd(-1n) });

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

test("accounts are found by login, each with its role, id and name", async () => {
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
