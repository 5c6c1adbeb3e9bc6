import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { SECOND_MS } from "#kernel/values/duration.ts";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { aManagedLogin, aPermitHolder, aWaitingLeg, permitLeg } from "../testing/rows.ts";
import { anAccount, aWorld, type World } from "../testing/world.ts";
import { lockAccountAndLeg, recordEvent } from "./record.ts";
import { WatchedClock } from "../domain/watched-clock.ts";
import { formatReference } from "../domain/reference.ts";
import { scanLeg } from "./scan-leg.ts";

/** Smallest interval between two scans that prove an absence. */
const BETWEEN_SCANS_MS = 1_050;
/** The deposited amount. */
const AMOUNT = "0.05";

type Lost = {
  readonly role?: "investor" | "master";
  /** Whether the sender has fenced the attempt. */
  readonly isFenced?: boolean;
  readonly senderHeartbeatAgo?: string;
  /** Negative: by a clock that was ahead. */
  readonly sentAgo?: string;
};

/** As a process has it that started this long ago. */
function watchedFor(ms: number): WatchedClock {
  const startedMs = performance.now() - ms;
  return new WatchedClock({ databaseMs: Date.now() - ms, fromMs: startedMs, toMs: startedMs });
}

/** A deposit of 0.05 whose answer was lost so long ago that its quiet period is over; the jobs do not run. */
async function aLostDeposit(
  world: World,
  { role = "investor", isFenced = true, senderHeartbeatAgo = "1 hour", sentAgo = "1 hour" }: Lost = {},
) {
  const instance = await world.start({ hasJobs: false, quietPeriodMs: 1_000 });
  const deps = { ...instance.deps, sender: { ...instance.deps.sender, clock: watchedFor(10 * SECOND_MS) } };
  const { pool } = deps;
  const login = await anAccount(instance, role);
  const number = await aWaitingLeg(pool, { key: "a", login });
  const permitHolder = await aPermitHolder(pool);
  await permitLeg(pool, number, permitHolder);
  await inTransaction(pool, async (tx) => {
    const circumstances = { server: deps.settings.server, at: new Date() };
    await recordEvent(tx, await lockAccountAndLeg(tx, login, number), { type: "lost", attempt: 1 }, circumstances);
  });
  await execute(
    pool,
    sql`update attempt
        set granted_at = now() - ${sentAgo}::interval, permit_expires_at = now() - interval '1 hour',
            fenced_at = case when ${isFenced} then now() end`,
  );
  await execute(
    pool,
    sql`update sender set heartbeat_at = now() - ${senderHeartbeatAgo}::interval where epoch = ${permitHolder.epoch}`,
  );
  await execute(pool, sql`update leg set next_scan_at = now() - interval '1 hour'`);
  const status = async () =>
    (await many(pool, sql`select state, refusal, review, next_scan_at > now() as later from leg`))[0];
  const scan = async () => {
    await scanLeg(deps, number);
    return await status();
  };
  const reference = formatReference({ kind: "deposit", number, attempt: 1 });
  return { control: world.control, deps, login, number, reference, scan };
}

test.concurrent("two clean scans prove that nothing was executed, and one does not", async (context) => {
  const { scan } = await aLostDeposit(await aWorld(context));

  expect(await scan()).toEqual({ state: "UNKNOWN", refusal: null, review: null, later: true });
  await delay(BETWEEN_SCANS_MS);
  expect(await scan()).toMatchObject({ state: "REFUSED", refusal: "absent" });
});

test.concurrent("a command that was answered with a ticket is never absent", async (context) => {
  const { deps, scan } = await aLostDeposit(await aWorld(context));
  await execute(deps.pool, sql`update attempt set answer = 'not_shown'`);
  await scan();
  await delay(BETWEEN_SCANS_MS);

  expect(await scan()).toMatchObject({ state: "REVIEW", review: "reported_deal_not_shown" });
});

test.concurrent("while its sender runs and has not fenced it, absence is not proven; a sender without heartbeats has ended", async (context) => {
  const running = await aLostDeposit(await aWorld(context), { isFenced: false, senderHeartbeatAgo: "0 seconds" });
  await execute(running.deps.pool, sql`update sender set heartbeat_at = now() + interval '1 minute'`);
  const ended = await aLostDeposit(await aWorld(context), { isFenced: false });
  await Promise.all([running.scan(), ended.scan()]);
  await delay(BETWEEN_SCANS_MS);

  expect(await running.scan()).toMatchObject({ state: "UNKNOWN" });
  expect(await ended.scan()).toMatchObject({ state: "REFUSED", refusal: "absent" });
});

test.concurrent("a deal with the reference applies it, also when the clock of the permit was ahead of the platform's", async (context) => {
  const { control, login, reference, scan, deps } = await aLostDeposit(await aWorld(context), {
    sentAgo: "-10 minutes",
  });
  await control.balance(login, AMOUNT, reference);
  // The history of the new account.
  deps.freshDeals.take();

  expect(await scan()).toMatchObject({ state: "APPLIED" });
  expect(deps.freshDeals.take()).toEqual([]);
});

test.concurrent("a Master's deal that is found is read at once", async (context) => {
  const { control, login, reference, scan, deps } = await aLostDeposit(await aWorld(context), { role: "master" });
  await control.balance(login, AMOUNT, reference);

  // The history of the new account.
  deps.freshDeals.take();
  expect(await scan()).toMatchObject({ state: "APPLIED" });
  expect(deps.freshDeals.take()).toEqual([login]);
});

test.concurrent("the same amount without a reference is sent to manual review, and a recorded deal is ignored", async (context) => {
  const doubtful = await aLostDeposit(await aWorld(context));
  const { deal: rewritten } = await doubtful.control.balance(doubtful.login, AMOUNT, "rewritten");
  // Another account had a deal with this ticket.
  await aManagedLogin(doubtful.deps.pool, "9999");
  await execute(
    doubtful.deps.pool,
    sql`insert into adopted_deal (server, deal_id, login) values (${doubtful.deps.settings.server}, ${rewritten}, '9999')`,
  );
  expect(await doubtful.scan()).toMatchObject({ state: "REVIEW", review: "candidate_deal" });

  const { control, login, scan, deps } = await aLostDeposit(await aWorld(context));
  await control.balance(login, AMOUNT, "earlier");
  const [deal] = await control.deals(login);
  await execute(
    deps.pool,
    sql`insert into adopted_deal (server, deal_id, login) values (${deps.settings.server}, ${deal?.deal}, ${login})`,
  );
  expect(await scan()).toMatchObject({ state: "UNKNOWN" });
});

test.concurrent("interest or credit of the same amount is not the deposit, a charge or correction may be: its type is a setting", async (context) => {
  const { control, login, scan } = await aLostDeposit(await aWorld(context));
  await control.book(login, 12, AMOUNT);
  await control.book(login, 3, AMOUNT);

  expect(await scan()).toMatchObject({ state: "UNKNOWN" });

  await control.book(login, 4, AMOUNT);
  expect(await scan()).toMatchObject({ state: "REVIEW", review: "candidate_deal" });
});

test.concurrent("a leg with a known outcome is not scanned", async (context) => {
  const { control, login, reference, number, scan, deps } = await aLostDeposit(await aWorld(context));
  await inTransaction(deps.pool, async (tx) => {
    const circumstances = { server: deps.settings.server, at: new Date() };
    await recordEvent(
      tx,
      await lockAccountAndLeg(tx, login, number),
      { type: "refused", attempt: 1, code: 8 },
      circumstances,
    );
  });
  await control.balance(login, AMOUNT, reference);

  expect(await scan()).toMatchObject({ state: "REFUSED", refusal: "platform_rejected" });
  expect(await many(deps.pool, sql`select verdict from scan`)).toEqual([]);
});
