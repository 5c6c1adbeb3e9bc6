import { expect, test } from "vitest";
import { createPool } from "#kernel/postgres/pool.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { aCall, aMaster, aRegistration, usd, world, type World } from "../testing/account.ts";
import { revealInvestor, revealMaster } from "../queries/find.ts";
import { addInvestor, addMaster } from "./add.ts";
import { createMaster } from "./create.ts";
import { updateMaster } from "./update.ts";

async function withAccounts(...logins: readonly string[]): Promise<World> {
  const deps = await world();
  for (const login of logins) deps.platform.existing.add(login);
  return deps;
}

test("two existing accounts become a Master, named by its login unless the caller sends a name", async () => {
  const deps = await withAccounts("5001", "6001");

  expect(await addMaster(deps, aRegistration(), aCall("op-1"))).toEqual({
    id: 1n,
    login: "5001",
    name: "5001",
    strategyName: undefined,
    strategy: undefined,
    paymentAccountLogin: "6001",
    minDeposit: usd(0n),
    createdAt: expect.any(Date),
    investorsCount: 0n,
    acceptingInvestors: true,
  });
  expect(deps.platform.adopted).toEqual([
    { login: "6001", role: AccountRole.PAYMENT },
    { login: "5001", role: AccountRole.MASTER },
  ]);
});

test("logins that are known in any role are refused before an account is adopted", async () => {
  const deps = await withAccounts("5001", "6001", "9001", "5002", "6002");
  await addMaster(deps, aRegistration(), aCall("op-1"));
  await addInvestor(deps, { login: "9001", name: "Ivy" }, aCall("op-2"));
  // None of them was created here, so there is no password to reveal.
  const none = { mainPassword: undefined, investorPassword: undefined };
  expect(await revealMaster(deps, { login: "5001" }, aCall())).toMatchObject(none);
  expect(await revealInvestor(deps, { login: "9001" })).toMatchObject(none);

  const before = deps.platform.adopted.length;
  const refused: readonly (readonly [string, string, string])[] = [
    ["5001", "6002", "login_already_registered"],
    ["9001", "6002", "login_in_use"],
    ["6001", "6002", "login_in_use"],
    ["5002", "6001", "payment_account_in_use"],
    ["5002", "9001", "login_in_use"],
    ["5002", "5002", "payment_account_equals_master"],
  ];
  for (const [login, paymentAccountLogin, code] of refused) {
    const details = aRegistration({ login, paymentAccountLogin });
    await expect(addMaster(deps, details, aCall("op-3")), `${login} ${paymentAccountLogin}`).rejects.toMatchObject({
      code,
      ...(code === "payment_account_equals_master" && { errors: [{ field: "payment_account_login", code }] }),
    });
  }
  for (const login of ["", "0", "-1", "12x", "9".repeat(20)]) {
    await expect(addInvestor(deps, { login, name: "Ivy" }, aCall("op-4"))).rejects.toMatchObject({
      code: "validation_failed",
      errors: [{ field: "mt5_login", code: "invalid_login" }],
    });
  }
  expect(deps.platform.adopted).toHaveLength(before);
});

test("every login that does not exist on the trading platform is named", async () => {
  const deps = await world();

  await expect(addMaster(deps, aRegistration(), aCall("op-1"))).rejects.toMatchObject({
    code: "platform_account_not_found",
    errors: [{ field: "mt5_login" }, { field: "payment_account_login" }],
  });
  await expect(addInvestor(deps, { login: "9001", name: "Ivy" }, aCall("op-2"))).rejects.toMatchObject({
    code: "platform_account_not_found",
    errors: [{ field: "mt5_login" }],
  });
});

test("of ten concurrent registrations of one login, one succeeds", async () => {
  const deps = await withAccounts("9001");

  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) => addInvestor(deps, { login: "9001", name: "Ivy" }, aCall(`op-${index}`))),
  );

  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const result of results) {
    if (result.status === "rejected") {
      expect(["login_already_registered", "login_in_use"]).toContain(result.reason.code);
    }
  }
});

test("an account that is being created cannot be registered", async () => {
  const deps = await withAccounts("3000001");
  deps.platform.faults.push(undefined, "lost answer");
  await createMaster(deps, aMaster(), aCall("op-1")).catch(() => {});

  await expect(addInvestor(deps, { login: "3000001", name: "Ivy" }, aCall("op-2"))).rejects.toMatchObject({
    code: "login_in_use",
  });
});

test("a repeated registration is answered with the current Master, and concurrent copies with the same Investor", async () => {
  const deps = await withAccounts("5001", "6001", "7001");
  const master = await addMaster(deps, aRegistration(), aCall("op-1"));
  const change = { name: "Other", strategyName: "Other", strategy: "Other", minDeposit: usd(7n) };
  await updateMaster(deps, { id: master.id, ...change }, aCall("op-4"));
  deps.counts.push({ masterLogin: "5001", investors: 3n });
  expect(await addMaster(deps, aRegistration(), aCall("op-1"))).toEqual({ ...master, ...change, investorsCount: 3n });

  const copies = [1, 2, 3, 4].map(() => addInvestor(deps, { login: "7001", name: "Ivy" }, aCall("op-2")));
  const [investor, ...others] = await Promise.all(copies);
  expect(others).toEqual([investor, investor, investor]);
  await expect(addInvestor(deps, { login: "7001", name: "Ivy" }, aCall("op-3"))).rejects.toMatchObject({
    code: "login_already_registered",
  });
});

test("a repeated registration during a database outage is unavailable, not a login in use", async () => {
  const deps = await withAccounts("7001");
  await addInvestor(deps, { login: "7001", name: "Ivy" }, aCall("op-1"));
  await using pool = createPool({
    url: "postgres://x@127.0.0.1:1/x",
    schema: "account",
    applicationName: "test",
    max: 1,
  });

  await expect(addInvestor({ ...deps, pool }, { login: "7001", name: "Ivy" }, aCall("op-1"))).rejects.toMatchObject({
    code: "service_unavailable",
    outcome: "not_executed",
  });
});
