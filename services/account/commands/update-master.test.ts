import { expect, test } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { removeOld } from "#kernel/testing/retention.ts";
import { accountRules } from "../retention.ts";
import { FEEDS } from "../service.ts";
import { findInvestor, findMaster, getMaster } from "../queries/find.ts";
import { aCall, aMaster, usd, world, UNCHANGED } from "../testing/account.ts";
import { createMaster } from "./create.ts";
import { MasterState } from "#proto/pamm/account/v1/account.ts";
import { updateMaster } from "./update.ts";
import { getMasterStatus, listMasters } from "../queries/profiles.ts";

test("an update changes the fields that it contains and keeps the others", async () => {
  const deps = await world();
  await createMaster(deps, aMaster(), aCall("op-1"));
  deps.counts.push({ masterLogin: "3000001", investors: 3n });

  const answer = await updateMaster(
    deps,
    { ...UNCHANGED, strategy: "Follows trends", minDeposit: usd(0n) },
    aCall("op-2"),
  );

  expect(answer).toMatchObject({
    name: "Alpha",
    strategyName: "Trend",
    strategy: "Follows trends",
    minDeposit: usd(0n),
    investorsCount: 3n,
  });
  expect(await getMaster(deps, { id: 1n })).toEqual({ ...answer, investorsCount: undefined });
  expect(await findMaster(deps, { login: "3000001" })).toEqual({ ...answer, investorsCount: undefined });
});

test("unknown ids and logins are not found, and an update has a field", async () => {
  const deps = await world();
  const wrongId = "No Master has the id 1. This route takes the internal id, not the login.";
  const unknown = { code: "master_not_found", message: wrongId };

  await expect(updateMaster(deps, { ...UNCHANGED, name: "Beta" }, aCall("op-1"))).rejects.toMatchObject(unknown);
  const nothing = { code: "validation_failed", errors: [{ code: "nothing_to_change" }] };
  await expect(updateMaster(deps, UNCHANGED, aCall("op-1"))).rejects.toMatchObject(nothing);
  await expect(getMaster(deps, { id: 1n })).rejects.toMatchObject(unknown);
  await expect(findMaster(deps, { login: "1" })).rejects.toMatchObject({
    code: "master_not_found",
    message: "No Master has the login 1.",
  });
  await expect(findInvestor(deps, { login: "1" })).rejects.toMatchObject({
    code: "investor_not_found",
    message: "No Investor has the login 1.",
  });
});

test("a login in another role is refused with the role that it has", async () => {
  const deps = await world();
  const { master } = await createMaster(deps, aMaster(), aCall("op-1"));
  const { login = "", paymentAccountLogin = "" } = master ?? {};

  await expect(findInvestor(deps, { login })).rejects.toMatchObject({
    code: "investor_not_found",
    message: `${login} is a Master account, not an Investor.`,
  });
  await expect(findMaster(deps, { login: paymentAccountLogin })).rejects.toMatchObject({
    code: "master_not_found",
    message: `${paymentAccountLogin} is a payment account, not a Master.`,
  });
});

test("Masters are listed in pages by id, each with its number of Investors", async () => {
  const deps = await world();
  for (const name of ["A", "B", "C"]) await createMaster(deps, aMaster({ name }), aCall(name));
  deps.counts.push({ masterLogin: "3000003", investors: 2n });

  const first = await listMasters(deps, { afterId: 0n, limit: 2 }, aCall());
  const second = await listMasters(deps, { afterId: 2n, limit: 2 }, aCall());

  expect(first).toMatchObject({
    items: [{ master: { id: 1n, investorsCount: 0n } }, { master: { id: 2n, investorsCount: 2n } }],
    hasMore: true,
  });
  expect(second).toMatchObject({ items: [{ master: { id: 3n, name: "C" } }], hasMore: false });
});

test("a repeated update does not undo a later one, and is answered with the current Master", async () => {
  const deps = await world();
  await createMaster(deps, aMaster(), aCall("op-1"));
  await updateMaster(deps, { ...UNCHANGED, name: "First" }, aCall("op-2"));
  const later = { name: "Second", minDeposit: usd(7n), strategy: "Other" };
  await updateMaster(deps, { ...UNCHANGED, ...later }, aCall("op-3"));
  deps.counts.push({ masterLogin: "3000001", investors: 3n });

  const again = await updateMaster(deps, { ...UNCHANGED, name: "First" }, aCall("op-2"));
  expect(again).toMatchObject({ ...later, investorsCount: 3n });
  expect(await getMaster(deps, { id: 1n })).toMatchObject(later);
  const copies = [1, 2, 3].map(() => updateMaster(deps, { ...UNCHANGED, name: "Third" }, aCall("op-4")));
  expect((await Promise.all(copies)).map(({ name }) => name)).toEqual(["Third", "Third", "Third"]);
});

test("command ids of updates are removed a year after the update, and not before", async () => {
  const deps = await world();
  await createMaster(deps, aMaster(), aCall("op-1"));
  for (const [index, name] of ["A", "B", "C", "D", "Last"].entries()) {
    await updateMaster(deps, { ...UNCHANGED, name }, aCall(`op-${index + 2}`));
  }
  const rules = accountRules(FEEDS, { PAMM_RETAIN_EVENTS: 35 * DAY_MS, PAMM_RETAIN_UPDATES: 365 * DAY_MS });
  const grow = (days: number) =>
    execute(deps.pool, sql`update account_update set applied_at = applied_at - ${days} * interval '1 day'`);

  await grow(364);
  await removeOld(deps.pool, rules);
  expect(await updateMaster(deps, { ...UNCHANGED, name: "A" }, aCall("op-2"))).toMatchObject({ name: "Last" });
  await grow(2);
  await execute(deps.pool, sql`update retention_rule set removed_before = null`);
  await removeOld(deps.pool, rules);
  expect(await many(deps.pool, sql`select command_id from account_update`)).toEqual([]);
});

test("a repeated creation is answered as requested, also after the Master was changed", async () => {
  const deps = await world();
  const created = await createMaster(deps, aMaster(), aCall("op-1"));
  const change = { name: "Other", strategyName: "Other", strategy: "Other", minDeposit: usd(7n) };
  await updateMaster(deps, { ...UNCHANGED, id: created.master!.id, ...change }, aCall("op-2"));

  expect(await createMaster(deps, aMaster(), aCall("op-1"))).toEqual(created);
  expect(deps.platform.created.size).toBe(2);
});

test("a Master accepts Investors until it is changed, and its status shows since when", async () => {
  const deps = await world();
  const { master } = await createMaster(deps, aMaster(), aCall("op-1"));
  const status = () => getMasterStatus(deps, { id: 1n }, aCall());
  const accept = (acceptingInvestors: boolean, commandId: string, at: string) =>
    updateMaster({ ...deps, now: () => new Date(at) }, { ...UNCHANGED, acceptingInvestors }, aCall(commandId));
  const [first, second] = ["2027-01-02T03:04:05.678Z", "2027-01-03T03:04:05.678Z"];

  expect(master).toMatchObject({ acceptingInvestors: true });
  const open = { id: 1n, login: "3000001", state: MasterState.OPEN, closing: undefined };
  expect(await status()).toEqual({ ...open, since: master!.createdAt });
  expect(await accept(false, "op-2", first)).toMatchObject({ acceptingInvestors: false, name: "Alpha" });
  await accept(false, "op-3", second);
  expect(await status()).toMatchObject({ state: MasterState.NOT_ACCEPTING, since: new Date(first) });
  expect(await findMaster(deps, { login: "3000001" })).toMatchObject({ acceptingInvestors: false });
  await accept(true, "op-4", second);
  expect(await status()).toMatchObject({ state: MasterState.OPEN, since: new Date(second) });
  await expect(getMasterStatus(deps, { id: 2n }, aCall())).rejects.toMatchObject({ code: "master_not_found" });
});
