import { expect, test, vi } from "vitest";
import { column, many, sql } from "#kernel/postgres/query.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { crashingProcess } from "#kernel/testing/crash.ts";
import { AccountKind } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { directoryReads } from "../store/directory-reads.ts";
import { aCall, aMaster, anInvestor, aRegistration, world, type World, UNCHANGED } from "../testing/account.ts";
import { addInvestor, addMaster } from "./add.ts";
import { createInvestor, createMaster } from "./create.ts";
import { updateMaster } from "./update.ts";
import { resumePaymentAccountChanges } from "../processes/change-payment-account.ts";
import { findAccounts, findMaster, findPaymentAccounts } from "../queries/find.ts";

const [MASTER, FIRST, SECOND] = ["3000001", "3000002", "7001"];
async function withMaster(): Promise<World> {
  const deps = await world();
  await createMaster(deps, aMaster(), aCall("op-1"));
  for (const login of [FIRST, SECOND, "7002", "7003", "5001", "6001"]) deps.platform.existing.add(login);
  return deps;
}

const change = (deps: Deps, paymentAccountLogin: string, commandId: string, more: object = {}) =>
  updateMaster(deps, { ...UNCHANGED, ...more, paymentAccountLogin }, aCall(commandId));

const shown = async (deps: Deps): Promise<string> => (await findMaster(deps, { login: MASTER })).paymentAccountLogin;

const states = async ({ pool }: Deps): Promise<string[]> =>
  await column(
    pool,
    sql`select case when done_at is null then 'OPEN' else 'DONE' end from payment_account_change order by id`,
  );

/** Longer than each claim, as after a crash. */
async function recover(deps: World): Promise<void> {
  await deps.pool.query("update payment_account_change set next_try_at = clock_timestamp() - interval '1 minute'");
  await resumePaymentAccountChanges(deps);
}

test("a change takes the account over, changes fee, then the Master with everything else of the request", async () => {
  const deps = await withMaster();
  const answer = await change(deps, SECOND, "op-2", { name: "Beta" });
  expect(answer).toMatchObject({ paymentAccountLogin: SECOND, name: "Beta" });
  expect([await shown(deps), deps.payingTo.get(MASTER), await states(deps)]).toEqual([SECOND, SECOND, ["DONE"]]);
  expect(deps.platform.adopted).toMatchObject([{ login: SECOND }]);
  const { accounts } = await findAccounts(deps, { logins: [FIRST, SECOND] });
  expect(accounts).toEqual(
    expect.arrayContaining(
      [FIRST, SECOND].map((login) => ({ login, kind: AccountKind.PAYMENT, id: 1n, name: "Beta" })),
    ),
  );
  // The same account again is no change, and a repeated command does not undo a later one.
  await change(deps, SECOND, "op-3");
  await change(deps, FIRST, "op-4");
  expect(await change(deps, SECOND, "op-2", { name: "Beta" })).toMatchObject({ paymentAccountLogin: FIRST });
  expect([await shown(deps), deps.payingTo.get(MASTER), await states(deps)]).toEqual([FIRST, FIRST, ["DONE", "DONE"]]);
  const created = await createMaster(deps, aMaster(), aCall("op-1"));
  expect(created.master).toMatchObject({ paymentAccountLogin: FIRST });
});

test("the payment account of a Master must not trade, nor the one that is to take its place, but the one before may", async () => {
  const deps = await withMaster();
  const logins = [FIRST, SECOND, "7002"];
  const use = () => findPaymentAccounts(deps, { logins });
  expect(await use()).toEqual({ inUse: [FIRST], becoming: [] });
  deps.feeFaults.push("lost answer");
  await expect(change(deps, SECOND, "op-2")).rejects.toMatchObject({ code: "outcome_unknown" });
  expect(await use()).toEqual({ inUse: [FIRST], becoming: [SECOND] });
  await recover(deps);
  expect(await use()).toEqual({ inUse: [SECOND], becoming: [] });
  deps.feeFaults.push("fees_in_progress");
  await expect(change(deps, "7002", "op-3")).rejects.toMatchObject({ code: "fees_in_progress" });
  expect(await use()).toEqual({ inUse: [SECOND], becoming: [] });
});

test("an account that cannot be the payment account is refused, and nothing is recorded", async () => {
  const deps = await withMaster();
  await addMaster(deps, aRegistration({ login: "5001", paymentAccountLogin: "6001" }), aCall("op-2"));
  const { investor } = await createInvestor(deps, anInvestor(), aCall("op-3"));
  const refused: readonly (readonly [string, string])[] = [
    [MASTER, "payment_account_equals_master"],
    ["6001", "payment_account_in_use"],
    ["5001", "login_in_use"],
    [investor!.login, "login_in_use"],
    ["9999", "platform_account_not_found"],
    ["x", "validation_failed"],
  ];
  for (const [login, code] of refused) {
    await expect(change(deps, login, `op-${login}`, { name: "Beta" }), login).rejects.toMatchObject({
      code,
      outcome: "not_executed",
    });
  }
  expect([await states(deps), await shown(deps)]).toEqual([[], FIRST]);
  expect(await findMaster(deps, { login: MASTER })).toMatchObject({ name: "Alpha" });
});

test("fees in progress refuse a change; the command may be repeated under its id, and the login stays a payment account", async () => {
  const deps = await withMaster();
  deps.feeFaults.push("fees_in_progress");
  await expect(change(deps, SECOND, "op-2", { name: "Beta" })).rejects.toMatchObject({
    code: "fees_in_progress",
    outcome: "not_executed",
  });
  expect([await states(deps), await shown(deps), deps.payingTo.size]).toEqual([[], FIRST, 0]);
  expect(await findMaster(deps, { login: MASTER })).toMatchObject({ name: "Alpha" });
  await expect(addInvestor(deps, { login: SECOND, name: "Ivy" }, aCall("op-3"))).rejects.toMatchObject({
    code: "login_in_use",
  });
  expect(await change(deps, SECOND, "op-2")).toMatchObject({ paymentAccountLogin: SECOND });
});

test("a former payment account belongs to its Master for ever", async () => {
  const deps = await withMaster();
  await change(deps, SECOND, "op-2");
  await addMaster(deps, aRegistration({ login: "5001", paymentAccountLogin: "6001" }), aCall("op-3"));
  await expect(change(deps, FIRST, "op-4", { id: 2n })).rejects.toMatchObject({ code: "payment_account_in_use" });
  expect(await change(deps, FIRST, "op-5")).toMatchObject({ paymentAccountLogin: FIRST });
});

test("a platform that is away ends a change without effect", async () => {
  const deps = await withMaster();
  vi.spyOn(deps.platform, "adoptAccount").mockRejectedValueOnce(
    Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
  );
  await expect(change(deps, SECOND, "op-2")).rejects.toMatchObject({
    code: "platform_unavailable",
    outcome: "not_executed",
  });
  expect([await states(deps), await shown(deps), deps.payingTo.size]).toEqual([[], FIRST, 0]);
});

test("an answer of fee that is lost is no refusal: the change goes on by itself, and a repetition finds it", async () => {
  const deps = await withMaster();
  deps.feeFaults.push("lost answer");
  await expect(change(deps, SECOND, "op-2")).rejects.toMatchObject({ code: "outcome_unknown", outcome: "unknown" });
  await expect(change(deps, "7002", "op-3")).rejects.toMatchObject({ code: "account_busy" });
  await expect(change(deps, SECOND, "op-2")).rejects.toMatchObject({ code: "outcome_unknown" });
  // Not sent this time; the first call may have been executed.
  deps.feeFaults.push("unreachable");
  await recover(deps);
  expect([await states(deps), await shown(deps), deps.feeFaults]).toEqual([["OPEN"], FIRST, []]);
  deps.feeFaults.push("fees_in_progress");
  await recover(deps);
  expect([await states(deps), await shown(deps)]).toEqual([["DONE"], SECOND]);
  expect(await change(deps, SECOND, "op-2")).toMatchObject({ paymentAccountLogin: SECOND });
});

test("fee is never sent a call that another process has not recorded, and a call that was not sent ends the change", async () => {
  const deps = await withMaster();
  deps.feeFaults.push("unreachable");
  await expect(change(deps, SECOND, "op-2")).rejects.toMatchObject({
    code: "service_unavailable",
    outcome: "not_executed",
  });
  expect([await states(deps), deps.payingTo.size]).toEqual([[], 0]);
  // The account has no Master, so any other one may have it.
  await addMaster(deps, aRegistration({ login: "5001", paymentAccountLogin: "6001" }), aCall("op-3"));
  expect(await change(deps, SECOND, "op-4", { id: 2n })).toMatchObject({ paymentAccountLogin: SECOND });
});

test("a refusal that comes after another attempt has begun does not end the change", async () => {
  const deps = await withMaster();
  const late: Deps["fees"] = {
    async changePaymentAccount() {
      await recover(deps);
      throw new Refusal({ code: "fees_in_progress", status: "conflict", message: "Fees.", outcome: "not_executed" });
    },
  };
  await expect(change({ ...deps, fees: late }, SECOND, "op-2")).rejects.toMatchObject({ code: "outcome_unknown" });
  expect([await states(deps), await shown(deps), deps.payingTo.get(MASTER)]).toEqual([["DONE"], SECOND, SECOND]);
});

test("of two changes at once one is refused, and its account is known to the service", async () => {
  const deps = await withMaster();
  const outcomes = await Promise.allSettled([change(deps, SECOND, "op-2"), change(deps, "7002", "op-3")]);
  for (const { reason } of outcomes.filter((outcome) => outcome.status === "rejected")) {
    expect(reason).toMatchObject({ code: "account_busy", outcome: "not_executed" });
  }
  expect(deps.payingTo.get(MASTER)).toBe(await shown(deps));
  const adopted = deps.platform.adopted.map(({ login }) => login);
  for (const login of adopted) {
    const other = addInvestor(deps, { login, name: "Ivy" }, aCall(`op-${login}`));
    await expect(other).rejects.toMatchObject({ code: "login_in_use" });
  }
});

test("two Masters do not get the same account, whichever is first", async () => {
  const deps = await withMaster();
  await addMaster(deps, aRegistration({ login: "5001", paymentAccountLogin: "6001" }), aCall("op-2"));
  const outcomes = await Promise.allSettled([
    change(deps, SECOND, "op-3"),
    change(deps, SECOND, "op-4", { id: 2n }),
    addMaster(deps, aRegistration({ login: "7003", paymentAccountLogin: SECOND }), aCall("op-5")),
  ]);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const owners = await many(deps.pool, sql`select id from master where payment_login = ${SECOND}`);
  expect(owners).toHaveLength(1);
});

test("a change that crashes at any point is finished or refused, and fee and directory agree", async () => {
  const deps = await withMaster();
  const crashing = (points: number) => {
    const { pool, client, crashed, pointsPassed } = crashingProcess(deps.pool, points);
    const others = {
      platform: client(deps.platform),
      fees: client(deps.fees),
      subscriptions: client(deps.subscriptions),
    };
    return { deps: { ...deps, pool, reads: directoryReads(pool), ...others }, crashed, pointsPassed };
  };
  const whole = crashing(Number.POSITIVE_INFINITY);
  await change(whole.deps, SECOND, "whole");
  const count = whole.pointsPassed();
  expect(count).toBeGreaterThan(15);
  for (let point = 0; point < count; point += 1) {
    const to = (await shown(deps)) === SECOND ? "7002" : SECOND;
    const process = crashing(point);
    const run = change(process.deps, to, `crash-${point}`).catch(() => undefined);
    await Promise.race([run, process.crashed]);
    await recover(deps);
    expect([point, deps.payingTo.get(MASTER)]).toEqual([point, await shown(deps)]);
    expect(await change(deps, to, `crash-${point}`)).toMatchObject({ paymentAccountLogin: to });
    expect(deps.payingTo.get(MASTER)).toBe(to);
  }
  expect(new Set(await states(deps))).toEqual(new Set(["DONE"]));
});
