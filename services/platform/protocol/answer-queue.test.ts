import { expect, test } from "vitest";
import { execute, many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aTransfer } from "../testing/requests.ts";
import { aManagedLogin, aPermitHolder, aWaitingLeg, permitLeg, SERVER } from "../testing/rows.ts";
import { aCall, anAccount, aWorld } from "../testing/world.ts";
import { tracePlace } from "#kernel/tracing/span.ts";
import { answerQueue } from "./answer-queue.ts";
import { sendPace } from "./send-pace.ts";
import { recordedTransfer } from "../testing/recorded-transfer.ts";

test.concurrent("an answer that breaks a rule of the database fails no other answer", async (context) => {
  const { deps } = await (await aWorld(context)).start({ hasJobs: false });
  const { pool } = deps;
  const permitHolder = await aPermitHolder(pool);
  const sentTo = async (login: string, ticket: bigint) => {
    await aManagedLogin(pool, login);
    const decision = await permitLeg(pool, await aWaitingLeg(pool, { key: login, login }), permitHolder);
    if (decision.kind !== "permitted") throw new Error("the leg is not permitted");
    const outcome = { kind: "applied", ticket } as const;
    return { permit: decision.permit, outcome, place: tracePlace() };
  };
  const [broken, plain] = [await sentTo("1", 71n), await sentTo("2", 72n)];
  // An entry beyond the end of its log.
  await execute(
    pool,
    sql`insert into log_entry (login, number, kind, amount_minor, server, deal_id, deal_at)
        values ('1', 1, 'external', 5, ${SERVER}, 70, now())`,
  );
  const record = answerQueue(deps, { pace: sendPace(), underWay: new Set() });

  const [refused, recorded] = await Promise.allSettled([record(broken), record(plain)]);

  expect(refused).toMatchObject({ status: "rejected", reason: { constraint: "log_entry_login_number_key" } });
  expect(recorded.status).toBe("fulfilled");
  expect(await many(pool, sql`select login, state from leg order by number`)).toEqual([
    { login: "1", state: "SENDING" },
    { login: "2", state: "APPLIED" },
  ]);
});

test.concurrent("a process that ends waits for the answers of enqueued transfers", async (context) => {
  const instance = await (await aWorld(context)).start({ hasJobs: false });
  const { deps, service } = instance;
  const master = await anAccount(instance, "master");
  const mirror = aTransfer("mirror:1", [{ login: master, kind: MovementKind.MIRROR, minor: 1_00n }], { enqueue: true });

  expect((await service.transfer(mirror, aCall())).state).toBe(TransferState.PENDING);
  await deps.sending.drain();

  expect((await recordedTransfer(service, mirror.key)).state).toBe(TransferState.APPLIED);
});
