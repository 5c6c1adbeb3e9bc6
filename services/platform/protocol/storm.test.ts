import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { aDeposit, aTransfer, aWithdrawal } from "../testing/requests.ts";
import { openReviews } from "../testing/reviews.ts";
import { aCall, anAccount, aWorld, eventually, type Instance } from "../testing/world.ts";

/** A tenth of the storm that production has to survive, with a quiet period of a second instead of five minutes. */
const STORM_MS = 6_000;
const HEALED_WITHIN_MS = 60_000;
const EFFECTS = ["drop_before", "drop_after", "drop_before", "retcode:12", "drop_before", "http:500"];

async function anOpenedAccount(instance: Instance, role: "investor" | "master"): Promise<string> {
  const login = await anAccount(instance, role);
  const kind = role === "master" ? MovementKind.MIRROR : MovementKind.DEPOSIT;
  await instance.service.transfer(aTransfer(`open:${login}`, [{ login, kind, minor: 1_000_00n }]), aCall());
  return login;
}

test("a storm of faults leaves nothing for operators: every movement ends, and once", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ quietPeriodMs: 1_000, commandTimeoutMs: 1_000 });
  const { service, deps } = instance;
  const investors = await Promise.all([1, 2, 3].map(() => anOpenedAccount(instance, "investor")));
  const master = await anOpenedAccount(instance, "master");
  const payment = await anAccount(instance, "payment");
  const enqueue = { enqueue: true };

  const endsAt = performance.now() + STORM_MS;
  for (let round = 0; performance.now() < endsAt; round += 1) {
    const effect = EFFECTS[round % EFFECTS.length]!;
    await world.control.fault({ command: "trade/balance", effect, times: 6 });
    await world.control.fault({ command: "deal/get_page", effect: "drop_before", times: 1 });
    const investor = investors[round % investors.length]!;
    const orders = [
      aTransfer(`mirror:${round}`, [{ login: master, kind: MovementKind.MIRROR, minor: 7n }], enqueue),
      aTransfer(`exit:${round}`, [{ login: master, kind: MovementKind.EXIT, minor: -3n }], enqueue),
      aTransfer(
        `fee:${round}`,
        [
          { login: investor, kind: MovementKind.FEE_DEBIT, minor: -2n },
          { login: payment, kind: MovementKind.FEE_CREDIT, minor: 2n },
        ],
        enqueue,
      ),
    ];
    for (const order of orders) await service.transfer(order, aCall());
    const result = aTransfer(`result:${round}`, [{ login: investor, kind: MovementKind.RESULT, minor: 5n }]);
    await Promise.allSettled([
      service.transfer(result, aCall(1_000)),
      service.transfer(aDeposit(investor, 11n), aCall(1_000)),
      service.transfer(aWithdrawal(investors[(round + 1) % investors.length]!, 13n), aCall(1_000)),
    ]);
  }
  await world.control.noFaults();

  const open = await eventually(
    () => many(deps.pool, sql`select number, kind, state, review from leg where state not in ('APPLIED', 'REFUSED')`),
    (rows) => rows.length === 0,
    HEALED_WITHIN_MS,
  );
  expect(open).toEqual([]);
  expect(await openReviews(instance)).toEqual([]);
  const halves = sql`select transfer_id from leg where kind in ('fee_debit', 'fee_credit') and ordinal < 3
                     group by transfer_id having count(distinct state) > 1`;
  expect(await many(deps.pool, halves)).toEqual([]);
  for (const login of [...investors, master, payment]) {
    // The deal of a Master's leg enters its log when the history is read.
    const { balance } = await world.control.account(login);
    const [logged] = await eventually(
      () =>
        many<{ sum: string }>(
          deps.pool,
          sql`select (log_minor / 100.0)::numeric(20, 2)::text as sum from account where login = ${login}`,
        ),
      ([row]) => row?.sum === balance,
    );
    expect(logged).toEqual({ sum: balance });
  }
}, 120_000);
