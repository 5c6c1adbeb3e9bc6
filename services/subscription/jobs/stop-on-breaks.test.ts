import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { stopOnBreaks } from "#kernel/reconcile/stop-on-breaks.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import { aBreak } from "#test/support/break.ts";
import type { Deps } from "../deps.ts";
import { settle, subscribed, aPair } from "../testing/settle.ts";
import { decide, reviewWithReason } from "../testing/reviews.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, anAssignment, anInvestor, aWorld, passTime, type World } from "../testing/world.ts";
import { stoppingBreaks } from "./stop-on-breaks.ts";

const runStopOnBreaks = (deps: Deps) => stopOnBreaks(deps.pool, stoppingBreaks(deps));

/** The dependencies with a platform that lists these breaks, one per page. */
function withBreaks({ deps }: World, breaks: readonly Break[]): Deps {
  const listBreaks: Deps["platform"]["listBreaks"] = async ({ afterId }) => {
    const rest = breaks.filter(({ id }) => id > afterId);
    return { items: rest.slice(0, 1), hasMore: rest.length > 1, checks: [] };
  };
  return { ...deps, platform: { ...deps.platform, listBreaks } };
}

async function reasons({ deps }: World): Promise<Record<string, string | null>> {
  const rows = await many<{ login: string; reason: string | null }>(
    deps.pool,
    sql`select login, stopped_reason as reason from master_pool`,
  );
  return Object.fromEntries(rows.map(({ login, reason }) => [login, reason]));
}

test("a break on a Master stops it, one on an Investor stops the Master of its pool, and no other Master stops", async () => {
  const world = await aWorld();
  const [first, second, third] = [aMaster(world, 0n), aMaster(world, 0n), aMaster(world, 0n)];
  const fourth = aMaster(world, 0n);
  for (const login of [first, fourth]) await subscribed(world, login, 500_00n);
  const { investorLogin } = await subscribed(world, second, 500_00n);
  await subscribed(world, third, 500_00n);
  await settle(world);

  await runStopOnBreaks(
    withBreaks(world, [
      aBreak(1n, { login: first, masterLogin: first }),
      aBreak(2n, { check: "transfer_legs", login: investorLogin }),
      aBreak(3n, { check: "unresolved_operations", login: third, masterLogin: third }),
      aBreak(4n, { check: "platform_balance", login: "999", masterLogin: "" }),
      // In another currency, an Investor is stopped alone, and a Master with its pool.
      aBreak(5n, { check: "account_currency", login: (await subscribed(world, third, 500_00n)).investorLogin }),
      aBreak(6n, { check: "account_currency", login: fourth, masterLogin: fourth }),
    ]),
  );

  expect(await reasons(world)).toEqual({
    [first]: "deal_matching: a deal is missing",
    [second]: "transfer_legs: a deal is missing",
    [third]: null,
    [fourth]: "account_currency: a deal is missing",
  });
  const pair = { masterLogin: first, investorLogin: anInvestor(world, 500_00n) };
  await expect(world.service.assign(anAssignment(pair), aCall())).rejects.toMatchObject({
    code: "safety_stop",
    outcome: "not_executed",
  });
  const other = { masterLogin: third, investorLogin: pair.investorLogin };
  await expect(world.service.assign(anAssignment(other), aCall())).resolves.toBeDefined();
});

test("a break that was found before operators resumed, and is read after it, does not make them decide the same again", async () => {
  const { world, masterLogin: master, investorLogin } = await aPair(500_00n);
  const other = await subscribed(world, master, 500_00n);
  trader(world, investorLogin).amended();
  await settle(world);
  const openedAt = world.deps.now();
  await passTime(world, 1_000);
  await decide(world, await reviewWithReason(world, "stopped"), "resume");
  const balance = { check: "platform_balance", dealIds: [], openedAt };
  const decided = [
    aBreak(1n, { login: investorLogin, dealIds: [77n], openedAt: world.deps.now() }),
    aBreak(2n, { ...balance, login: master, masterLogin: master }),
    aBreak(3n, { ...balance, login: investorLogin }),
  ];
  await runStopOnBreaks(withBreaks(world, decided));
  expect(await reasons(world)).toEqual({ [master]: null });

  const notDecided = [
    aBreak(4n, { login: investorLogin, dealIds: [78n], openedAt }),
    aBreak(5n, { ...balance, login: other.investorLogin }),
    aBreak(6n, { ...balance, login: master, masterLogin: master, openedAt: new Date(world.deps.now().getTime() + 1) }),
    aBreak(7n, { ...balance, check: "transfer_ownership", login: master, masterLogin: master }),
  ];
  for (const found of notDecided) {
    await runStopOnBreaks(withBreaks(world, [...decided, found]));
    expect(await reasons(world)).toEqual({ [master]: `${found.check}: a deal is missing` });
    await world.deps.pool.query("update master_pool set stopped_reason = null");
    await world.deps.pool.query("update review_case set state = 'OBSOLETE' where state = 'OPEN'");
  }
});
