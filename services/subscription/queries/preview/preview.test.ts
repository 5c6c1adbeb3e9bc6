import { expect, test } from "vitest";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { column, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { corrupt } from "#test/support/corrupt.ts";
import { enter, getAccount } from "#test/support/platform-fake/ledger.ts";
import { holdForWithdrawal, release, requestWithdrawal } from "../../testing/funding.ts";
import { settle, subscribed, aPair } from "../../testing/settle.ts";
import { trader } from "../../testing/trader.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, type World } from "../../testing/world.ts";

type Refused = { readonly refusals: readonly { readonly code: string }[] };

const codesOf = ({ refusals }: Refused): string[] => refusals.map(({ code }) => code);

function previewWithdrawal({ service }: World, investorLogin: string, requested: bigint, withinMs?: number) {
  const request = { investorLogin, requested: moneyToProto(usd(requested)), comment: "CRM-1" };
  return service.previewWithdrawal(request, aCall({ commandId: "", ...(withinMs === undefined ? {} : { withinMs }) }));
}

/** The rows of all tables, to show that a preview changes none. */
async function everything({ deps: { pool } }: World): Promise<unknown> {
  const tables = await column<string>(
    pool,
    sql`select table_name from information_schema.tables
        where table_schema = current_schema() and table_type = 'BASE TABLE'
        order by table_name`,
  );
  return await Promise.all(
    tables.map(async (name) => (await pool.query(`select t::text from ${name} t order by 1`)).rows),
  );
}

test("previews of an assignment, a withdrawal and an exit say what follows, and change no row and no lock", async () => {
  const world = await aWorld();
  const { service, platform } = world;
  const masterLogin = aMaster(world);
  const investorLogin = anInvestor(world, 1_000_00n);
  const pair = { masterLogin, investorLogin };
  const assignment = await service.previewAssign(anAssignment(pair), aCall());
  expect(assignment).toMatchObject({
    refusals: [],
    balance: { minorUnits: 1_000_00n },
    minDeposit: { minorUnits: 100_00n },
  });

  const { subscription } = await service.assign(anAssignment(pair), aCall());
  expect(subscription).toMatchObject({ masterId: assignment.masterId, investorId: assignment.investorId });
  await settle(world);
  trader(world, masterLogin).result(200_00n);
  await settle(world);
  world.fees.rules.ratePpm = 300_000;
  const before = await everything(world);
  const locks = new Map(platform.accountLocks);

  const withdrawal = await previewWithdrawal(world, investorLogin, 2_000_00n);
  const exit = await service.previewUnassign(pair, aCall());

  expect(await everything(world)).toEqual(before);
  expect([platform.accountLocks, platform.released.length]).toEqual([locks, 1]);
  expect(withdrawal).toMatchObject({
    refusals: [],
    inPool: true,
    figures: {
      balanceBefore: { minorUnits: 1_200_00n },
      pendingFee: { minorUnits: 60_00n },
      availableAfterFee: { minorUnits: 1_140_00n },
      effective: { minorUnits: 1_140_00n },
    },
  });
  expect(exit).toMatchObject({
    refusals: [],
    subscription: { status: SubscriptionStatus.PAUSED, inPool: false, endedAt: undefined },
    figures: { pendingFee: { minorUnits: 60_00n }, effective: { minorUnits: 1_140_00n } },
  });
  const { inPool, figures } = await requestWithdrawal(world, investorLogin, 2_000_00n);
  expect({ inPool, figures }).toEqual({ inPool: withdrawal.inPool, figures: withdrawal.figures });
});

test("an exit that leaves nothing behind is previewed as CANCELLED, and the exit is", async () => {
  const { world, ...pair } = await aPair(0n);
  const preview = await world.service.previewUnassign(pair, aCall());
  expect(preview).toMatchObject({
    refusals: [],
    subscription: { status: SubscriptionStatus.CANCELLED },
    figures: { effective: { minorUnits: 0n } },
  });
  const { subscription } = await world.service.unassign(pair, aCall());
  expect(subscription?.status).toBe(SubscriptionStatus.CANCELLED);

  const again = await world.service.previewUnassign(pair, aCall());
  expect(again).toMatchObject({ refusals: [{ code: "subscription_not_active" }], figures: undefined });
  await expect(world.service.unassign(pair, aCall())).rejects.toMatchObject({ code: "subscription_not_active" });
});

test("open positions, a deficit, a stop and a busy account are reported at once, and the command answers the first", async () => {
  const world = await aWorld();
  const { service, deps } = world;
  const pair = await subscribed(world, aMaster(world), 500_00n);
  trader(world, pair.masterLogin).openSome(2);
  await settle(world);
  await corrupt(deps.pool, `update holding set pooled_minor = -321 where subscription_id = ${pair.id}`);
  const positions = { code: "master_open_positions", details: { open_positions: "2" } };
  const deficit = { code: "investor_deficit", details: { deficit: "3.21" } };
  expect((await service.previewUnassign(pair, aCall())).refusals).toMatchObject([positions, deficit]);

  const held = await holdForWithdrawal(world, pair.investorLogin, 1n);
  await corrupt(deps.pool, `update master_pool set stopped_reason = 'test' where login = '${pair.masterLogin}'`);
  const codes = ["account_busy", "safety_stop", "master_open_positions", "investor_deficit"];
  expect(codesOf(await service.previewUnassign(pair, aCall({ withinMs: 1_000 })))).toEqual(codes);
  expect(codesOf(await previewWithdrawal(world, pair.investorLogin, 1_00n, 1_000))).toEqual(codes);
  await expect(service.unassign(pair, aCall({ withinMs: 1_200 }))).rejects.toMatchObject({ code: "account_busy" });
  await release(world, held);
  await expect(service.unassign(pair, aCall())).rejects.toMatchObject({ code: "safety_stop" });
});

test("a preview waits a moment for what passes, and reports it when it stays", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const master = getAccount(world.platform.ledger, pair.masterLogin);
  master.isComplete = false;
  const blocked = await world.service.previewUnassign(pair, aCall({ withinMs: 1_000 }));
  expect(blocked.refusals).toMatchObject([{ code: "allocation_in_progress" }]);
  setTimeout(() => (master.isComplete = true), 150);
  expect(codesOf(await world.service.previewUnassign(pair, aCall()))).toEqual([]);
});

test("what is not filed, not allocated, or of a week that is not closed or decided, is in progress", async () => {
  const world = await aWorld();
  const { service, deps } = world;
  const pair = await subscribed(world, aMaster(world), 500_00n);
  const look = async () => codesOf(await service.previewUnassign(pair, aCall({ withinMs: 1_000 })));
  expect(await look()).toEqual([]);

  trader(world, pair.masterLogin).result(10_00n);
  expect(await look()).toEqual(["allocation_in_progress"]);
  await settle(world);
  expect(await look()).toEqual([]);

  const pool = `update master_pool set`;
  await corrupt(deps.pool, `insert into open_week (master_login, number) values ('${pair.masterLogin}', 1)`);
  expect(await look()).toEqual(["allocation_in_progress"]);
  await corrupt(deps.pool, `update open_week set decided_subscription_id = ${pair.id}`);
  expect(await look()).toEqual([]);
  await corrupt(deps.pool, `${pool} weeks_closed_through = weeks_closed_through - interval '7 days'`);
  expect(await look()).toEqual(["allocation_in_progress"]);
  await corrupt(deps.pool, `${pool} weeks_closed_through = weeks_closed_through + interval '7 days'`);

  enter(world.platform.ledger, pair.investorLogin, { kind: MovementKind.EXTERNAL, amount: 70_00n });
  expect(await look()).toEqual(["account_busy"]);
});

test("an account or a fee that cannot be read leaves the figures out", async () => {
  const { world, ...pair } = await aPair(500_00n);
  const look = () => world.service.previewUnassign(pair, aCall({ withinMs: 1_000 }));
  world.fees.rules.isDown = true;
  expect(await look()).toMatchObject({ refusals: [{ code: "allocation_in_progress" }], figures: undefined });
  world.fees.rules.isDown = false;
  world.fees.rules.isStopped = true;
  expect(await look()).toMatchObject({ refusals: [{ code: "safety_stop" }], figures: undefined });
  world.fees.rules.isStopped = false;
  world.platform.state.isDown = true;
  expect(await look()).toMatchObject({
    refusals: [{ code: "platform_unavailable" }, { code: "allocation_in_progress" }],
    subscription: { status: SubscriptionStatus.ACTIVE, inPool: true },
    figures: undefined,
  });
  await expect(world.service.unassign(pair, aCall())).rejects.toMatchObject({ code: "platform_unavailable" });
});

test("everything against an assignment is reported at once, and unknown accounts are refused as by the command", async () => {
  const world = await aWorld({ isSingleSubscription: true });
  const { service, deps } = world;
  const pair = await subscribed(world, aMaster(world), 500_00n);
  const other = aMaster(world, 900_00n);
  await subscribed(world, other, 900_00n);
  await corrupt(deps.pool, `update master_pool set is_in_deficit = true where login = '${other}'`);
  trader(world, pair.investorLogin).openSome(1);
  await settle(world);
  const wanted = anAssignment({ masterLogin: other, investorLogin: pair.investorLogin });

  const preview = await service.previewAssign(wanted, aCall());

  expect(codesOf(preview)).toEqual([
    "already_subscribed",
    "safety_stop",
    "investor_previously_subscribed",
    "investor_has_open_positions",
    "below_min_deposit",
  ]);
  expect(preview.refusals.at(-1)).toMatchObject({ details: { required: "900.00", actual: "500.00" } });
  await expect(service.assign(wanted, aCall())).rejects.toMatchObject({ code: "already_subscribed" });

  const unknown = { ...wanted, investorLogin: "99" };
  await expect(service.previewAssign(unknown, aCall())).rejects.toMatchObject({ code: "investor_not_found" });
  await expect(service.previewAssign({ ...wanted, masterLogin: "99" }, aCall())).rejects.toMatchObject({
    code: "master_not_found",
  });
  const stranger = { masterLogin: other, investorLogin: anInvestor(world, 1_00n) };
  await expect(service.previewUnassign(stranger, aCall())).rejects.toMatchObject({ code: "subscription_not_found" });
  await expect(
    service.previewAssign({ masterLogin: "", investorLogin: "x", feeRatePpm: -1 }, aCall()),
  ).rejects.toMatchObject({ code: "validation_failed", errors: [{}, {}, {}] });
});
