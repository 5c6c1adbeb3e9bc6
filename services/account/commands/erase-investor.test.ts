import { expect, test } from "vitest";
import { column, execute, many, sql } from "#kernel/postgres/query.ts";
import { crashingProcess } from "#kernel/testing/crash.ts";
import type { EraseInvestorResponse } from "#proto/pamm/account/v1/account.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { metricValues } from "#test/support/metric-values.ts";
import { findInvestor, revealInvestor } from "../queries/find.ts";
import { directoryReads } from "../store/directory-reads.ts";
import { aCall, aMaster, anInvestor, usd, world, type World, refusedWith } from "../testing/account.ts";
import { addInvestor } from "./add.ts";
import { createInvestor, createMaster } from "./create.ts";
import { eraseInvestor } from "./erase-investor.ts";
import { finishErasures, showErasures } from "../jobs/finish-erasures.ts";
import { listInvestors } from "../queries/profiles.ts";

const LOGIN = "3000001";
const ERASE = { login: LOGIN, actor: "anna" };
const OTHER = { firstName: "Otto", lastName: "Other", name: "Otto", username: "otto@example.com" };

/** An Investor, a refused request of the same person, and another Investor. */
async function withInvestors(): Promise<World> {
  const deps = await world();
  await createInvestor(deps, anInvestor(), aCall("op-1"));
  deps.platform.faults.push(refusedWith("group_not_allowed"));
  await createInvestor(deps, anInvestor(), aCall("op-2")).catch(() => undefined);
  await execute(deps.pool, sql`update provisioning set is_tidied = true where state = 'FAILED'`);
  await createInvestor(deps, anInvestor(OTHER), aCall("op-3"));
  return deps;
}

/** Every value of every row of the schema, as text. */
async function wholeSchema({ pool }: World): Promise<string> {
  const tables = await column<string>(
    pool,
    sql`select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname`,
  );
  const rows = await Promise.all(
    tables.map((table) => pool.query<{ text: string }>(`select to_jsonb(row)::text as text from ${table} as row`)),
  );
  return rows.flatMap((answer) => answer.rows.map(({ text }) => text)).join("\n");
}

async function anErasure(deps: World, over: Partial<typeof ERASE> = {}): Promise<EraseInvestorResponse> {
  return await eraseInvestor(deps, { ...ERASE, ...over }, aCall("op-9"));
}

test("no row has the person any more, the other Investor stays, and a repetition gets the first answer", async () => {
  const deps = await withInvestors();
  const before = await wholeSchema(deps);
  for (const text of ["Ivy", "Irving", "ivy@example.com"]) expect(before).toContain(text);

  const answer = await anErasure(deps);
  expect(answer).toEqual({
    investor: { id: 1n, login: LOGIN, name: "erased", createdAt: expect.any(Date) },
    requestedBy: "anna",
    requestedAt: expect.any(Date),
    erasedAt: expect.any(Date),
    onPlatform: true,
  });
  expect(await anErasure(deps, { actor: "ben" })).toEqual(answer);
  expect(deps.platform.erased).toEqual([LOGIN]);

  const after = await wholeSchema(deps);
  for (const text of ["Ivy", "Irving", "ivy@example.com"]) expect(after).not.toContain(text);
  expect(await column(deps.pool, sql`select distinct owner from credential where owner like '%investor%'`)).toEqual(
    expect.not.arrayContaining(["account:investor:op-1"]),
  );
  const other = deps.platform.created.get("account:investor:op-3");
  expect(await revealInvestor(deps, { login: other!.login })).toMatchObject({
    investor: { name: "Otto" },
    mainPassword: other!.mainPassword,
  });
});

test("lists and lookups show a neutral text, and the passwords are gone", async () => {
  const deps = await withInvestors();
  await anErasure(deps);
  expect((await listInvestors(deps, { afterId: 0n, limit: 1 })).items).toMatchObject([
    { investor: { login: LOGIN, name: "erased" } },
  ]);
  expect(await findInvestor(deps, { login: LOGIN })).toMatchObject({ login: LOGIN, name: "erased" });
  const none = { mainPassword: undefined, investorPassword: undefined };
  expect(await revealInvestor(deps, { login: LOGIN })).toMatchObject({ investor: { name: "erased" }, ...none });
  await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject({
    code: "investor_erased",
    outcome: "not_executed",
  });
  expect(deps.platform.created.size).toBe(2);
});

test("an Investor that was registered is erased, too", async () => {
  const deps = await world();
  deps.platform.existing.add("9001");
  await addInvestor(deps, { login: "9001", name: "Ivy" }, aCall("op-1"));
  deps.platform.erasures.push("not shown");
  expect(await anErasure(deps, { login: "9001" })).toMatchObject({ investor: { name: "erased" }, onPlatform: false });
  expect(await wholeSchema(deps)).not.toContain("Ivy");
  expect(await addInvestor(deps, { login: "9001", name: "Ivy" }, aCall("op-1"))).toMatchObject({ name: "erased" });
});

test("an Investor that is not closed is refused with every reason, and nothing is erased", async () => {
  const deps = await withInvestors();
  const before = await wholeSchema(deps);
  deps.openSubscriptions.push({
    id: 1n,
    masterId: 1n,
    investorId: 1n,
    masterLogin: "4000001",
    investorLogin: LOGIN,
    status: SubscriptionStatus.PAUSED,
    inPool: true,
    startedAt: new Date(),
    endedAt: undefined,
    createdAt: new Date(),
    balanceBaselineOpId: 1n,
  });
  Object.assign(deps.platform.closing, { balance: usd(-1n), credit: usd(2n), openPositions: 3, operationOpen: true });
  await expect(anErasure(deps)).rejects.toMatchObject({
    code: "investor_not_closed",
    outcome: "not_executed",
    message:
      "Investor 3000001 is not closed (subscription_open, balance_not_zero, credit_not_zero, open_positions, operation_open).",
    errors: ["subscription_open", "balance_not_zero", "credit_not_zero", "open_positions", "operation_open"].map(
      (code) => ({ field: "investor_login", code, message: expect.any(String) }),
    ),
  });
  expect(await wholeSchema(deps)).toBe(before);
  expect(deps.platform.erased).toEqual([]);
});

test("only Investors are erased", async () => {
  const deps = await world();
  await createMaster(deps, aMaster(), aCall("op-1"));
  for (const login of ["3000001", "3000002", "77"]) {
    await expect(anErasure(deps, { login })).rejects.toMatchObject({ code: "investor_not_found" });
  }
});

test.each(["unreachable", "lost answer", "rejected"] as const)(
  "after the answer of the platform service was %s, the job finishes the erasure",
  async (fault) => {
    const deps = await withInvestors();
    deps.platform.erasures.push(fault);
    const code = fault === "rejected" ? "platform_rejected" : "outcome_unknown";
    await expect(anErasure(deps)).rejects.toMatchObject({ code, outcome: "unknown" });
    expect(await findInvestor(deps, { login: LOGIN })).toMatchObject({ name: "erased" });
    // What happens on the account after the decision does not matter any more.
    deps.platform.closing.balance = usd(5n);
    deps.platform.erasures.push(fault);
    await execute(deps.pool, sql`update erasure set next_try_at = now()`);
    await finishErasures(deps);
    const failed = await many(deps.pool, sql`select reason is not null as failed, erased_at from erasure`);
    expect(failed).toEqual([{ failed: true, erased_at: null }]);
    await execute(deps.pool, sql`update erasure set requested_at = now() - interval '2 hours'`);
    expect(await shownErasures(deps)).toEqual([1, true]);

    await execute(deps.pool, sql`update erasure set next_try_at = now()`);
    await finishErasures(deps);
    expect(await anErasure(deps)).toMatchObject({ requestedBy: "anna", onPlatform: true });
    expect(await shownErasures(deps)).toEqual([0, false]);
  },
);

/** The metrics of open erasures: how many, and whether the oldest is hours old. */
async function shownErasures({ pool }: World): Promise<readonly [number | undefined, boolean]> {
  await showErasures(pool);
  const { "": count } = await metricValues("pamm_erasures_open");
  const { "": seconds = 0 } = await metricValues("pamm_erasure_oldest_open_seconds");
  return [count, seconds >= 7_200];
}

test("an erasure that crashes after any statement or call has not begun, or the job finishes it", async () => {
  const deps = await world();
  const { pool, platform, subscriptions } = deps;
  const outcomes = new Set<string>();
  for (let points = 0, ended = "crashed"; ended !== "answered"; points += 1) {
    const key = `op-${points}`;
    const { investor } = await createInvestor(deps, anInvestor(), aCall(key));
    const { login } = investor!;
    const process = crashingProcess(pool, points);
    const crashing = {
      ...deps,
      pool: process.pool,
      reads: directoryReads(process.pool),
      platform: process.client(platform),
      subscriptions: process.client(subscriptions),
    };
    const erased = eraseInvestor(crashing, { login, actor: "anna" }, aCall(`erase-${points}`));
    ended = await Promise.race([erased.then(() => "answered"), process.crashed.then(() => "crashed")]);

    const [isFinished] = await column<boolean>(
      pool,
      sql`select erased_at is not null from erasure where login = ${login}`,
    );
    outcomes.add(isFinished === undefined ? "not begun" : isFinished ? "finished" : "recorded");
    // The row, the name and the passwords end in one commit.
    const isErased = isFinished !== undefined;
    expect((await findInvestor(deps, { login })).name).toBe(isErased ? "erased" : "Ivy");
    const owned = sql`select count(*) from credential where owner = ${`account:investor:${key}`}`;
    expect(await column<bigint>(pool, owned)).toEqual([isErased ? 0n : 2n]);
    await execute(pool, sql`update erasure set next_try_at = now()`);
    await finishErasures(deps);
    const answer = await eraseInvestor(deps, { login, actor: "ben" }, aCall(`again-${points}`));
    expect(answer.requestedBy).toBe(isErased ? "anna" : "ben");
    expect(platform.erased).toContain(login);
  }
  expect(outcomes).toEqual(new Set(["not begun", "recorded", "finished"]));
});

test("the service cannot change an Investor, but for the name of one whose erasure is recorded", async () => {
  const deps = await withInvestors();
  await expect(deps.pool.query("update investor set name = 'erased'")).rejects.toMatchObject({ code: "42501" });
  await deps.pool.query(`select erase_investor_name('${LOGIN}')`);
  expect(await findInvestor(deps, { login: LOGIN })).toMatchObject({ name: "Ivy" });
});
