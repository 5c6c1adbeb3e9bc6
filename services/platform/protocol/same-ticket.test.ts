import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { countLockWaiters } from "#test/support/lock-waiters.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { lockAccount } from "../store/accounts.ts";
import { listLegsByKey } from "../store/legs.ts";
import { findingsOf, logOf } from "../testing/log-of.ts";
import { aDeposit } from "../testing/requests.ts";
import { aCall, anAccount, eventually, type Instance, aProcess, aProcessWith } from "../testing/world.ts";
import { lockAccountAndLeg, recordEvent } from "./record.ts";
import { readWholeLogin } from "../amendments/deleted-deals.ts";
import { recordNow } from "./record-now.ts";

/** The facts that the sender of the command reports. */
const ANSWERED = { at: new Date(), attempt: { isFenced: true, answerCode: 0 } };
const TICKET = 4_711n;

/** A leg with a permit whose command was not written. */
async function aSendingLeg(instance: Instance) {
  const login = await anAccount(instance);
  const request = aDeposit(login, 5_00n);
  instance.crashAt("after_permit");
  await expect(instance.service.transfer(request, aCall())).rejects.toThrow("after_permit");
  const [leg] = (await listLegsByKey(instance.deps.pool, [request.key])).get(request.key)!;
  return leg!;
}

async function rows({ deps }: Instance) {
  return await many(
    deps.pool,
    sql`select leg.state, came_from, review, deal_id, attempt.state as attempt
        from leg join attempt on leg_number = leg.number
        order by leg.number`,
  );
}

const applied = { type: "applied", attempt: 1, ticket: TICKET } as const;

test.concurrent("of two legs that receive one ticket at the same moment, the second stays unknown", async (context) => {
  const { instance, deps } = await aProcess(context, { hasJobs: false });
  const [first, second] = [await aSendingLeg(instance), await aSendingLeg(instance)];

  const { server } = deps.settings;
  const late = await inTransaction(deps.pool, async (tx) => {
    const locked = await lockAccountAndLeg(tx, first.login, first.number);
    await recordEvent(tx, locked, applied, { server, ...ANSWERED });
    // It found no record of the ticket; now it waits for the first transaction at the unique index.
    const recording = recordNow(deps, second, applied, ANSWERED);
    await eventually(
      () => countLockWaiters(deps.pool),
      (waiting) => waiting > 0,
    );
    return { recording };
  });

  expect((await late.recording).status.state).toBe("UNKNOWN");
  expect(await rows(instance)).toEqual([
    { state: "APPLIED", came_from: null, review: null, deal_id: TICKET, attempt: "APPLIED" },
    { state: "UNKNOWN", came_from: null, review: null, deal_id: null, attempt: "UNKNOWN" },
  ]);
});

test.concurrent("an answer with the ticket of another login's unread deal is detected when its history is compared", async (context) => {
  const { world, instance, deps } = await aProcess(context, { hasJobs: false });
  const other = await anAccount(instance);
  const leg = await aSendingLeg(instance);
  const { deal } = await world.control.balance(other, "5.00");
  await recordNow(deps, leg, { ...applied, ticket: BigInt(deal) }, ANSWERED);

  await readWholeLogin(deps, other);

  expect(await rows(instance)).toMatchObject([
    { state: "APPLIED", came_from: null, review: null, deal_id: BigInt(deal) },
  ]);
  expect((await logOf(instance, leg.login, 2)).map(({ reason }) => reason)).toEqual(["", "deal_gone"]);
});

test.concurrent("a ticket that the platform reuses on the same login is sent to manual review and booked once", async (context) => {
  const { world, instance, service, deps, login } = await aProcessWith("investor", context);
  const first = await service.transfer(aDeposit(login, 5_00n), aCall());
  await world.control.restart(60_000);

  const second = await service.transfer(aDeposit(login, 5_00n), aCall());

  expect(second.state).toBe(TransferState.REVIEW);
  expect(await findingsOf(instance, login)).toContain("ticket_conflict");
  const ticket = first.legs[0]!.dealId;
  const bookings = await many(deps.pool, sql`select number from log_entry where deal_id = ${ticket}`);
  expect(bookings).toHaveLength(1);
});

test.concurrent("a read of a login whose row is locked is refused as busy while it differs from its log, and succeeds later", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { hasJobs: false });
  await world.control.balance(login, "1.00");

  await inTransaction(instance.deps.pool, async (tx) => {
    await lockAccount(tx, login);
    await expect(instance.service.readAccount({ login }, aCall())).rejects.toMatchObject({
      code: "busy",
      status: "busy",
      outcome: "not_executed",
      retryAfterMs: 250,
    });
  });

  expect(await instance.service.readAccount({ login }, aCall())).toMatchObject({ complete: true });
});
