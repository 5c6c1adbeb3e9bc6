import { expect, onTestFinished, test, vi } from "vitest";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { one, sql } from "#kernel/postgres/query.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { registerInstance } from "../register-instance.ts";
import { readClock } from "../store/clock.ts";
import { logOf } from "../testing/log-of.ts";
import { aDeposit, aTransfer, commentOf } from "../testing/requests.ts";
import { decideBoth, reviewOf } from "../testing/reviews.ts";
import { aCall, anAccount, aProcess } from "../testing/world.ts";
import { readLogin } from "./history/read-history.ts";

/** Time zone of the trade server: without this setting it is measured by the clock of the process. */
const ZONE = "Europe/Athens";
/** Longer than the test takes. */
const TOLERANCE_S = 60;

/** Changes the clock of this process only: the trade server was started before, and the database is another process. */
function setProcessClock(byMs: number): void {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
}

test("a process whose clock is an hour off stores no time that is compared with times of the database", async (context) => {
  const { world, instance, service, deps } = await aProcess(context, { hasJobs: false, timeZone: ZONE });
  await anAccount(instance);
  const existing = await world.control.addAccount({
    group: "pamm\\investor",
    name: "Existing account",
    balance: "7",
  });
  setProcessClock(HOUR_MS);

  const login = await anAccount(instance);
  const master = await anAccount(instance, "master");
  await service.adoptAccount({ login: existing, role: AccountRole.INVESTOR }, aCall());
  await service.transfer(aDeposit(login, 5_00n), aCall());
  await service.transferBatch({ requests: [aDeposit(login, 6_00n)] }, aCall());
  await service.transfer(aTransfer("m:1", [{ login: master, kind: MovementKind.MIRROR, minor: 9_00n }]), aCall());
  const forged = commentOf("reversal", 77n);
  await world.control.balance(login, "8.00", forged);
  await readLogin(deps, login);
  await decideBoth(instance, await reviewOf(instance, "unknown_reference"), { action: "acknowledge" });

  expect(await logOf(instance, login, 4)).toHaveLength(4);
  const { apart, times } = await one<{ apart: number; times: number }>(
    deps.pool,
    sql`select max(abs(extract(epoch from clock_timestamp() - at)))::float8 as apart, count(*)::int as times
          from (
            select applied_at as at from leg
            union all select next_scan_at from leg
            -- Of an account that existed before, its opening; of a new one, a day earlier.
            union all select case login when ${existing} then reads_from else reads_from + interval '1 day' end from account
            union all select deal_at from log_entry
            union all select opened_at from review_case
            union all select proposed_at from review_case
            union all select confirmed_at from review_case
            union all select done_at from review_case
          ) as written`,
  );
  expect(times).toBeGreaterThan(15);
  expect(apart).toBeLessThan(TOLERANCE_S);
  const { clock } = await registerInstance(deps);
  expect(Math.abs((await readClock(deps.pool)) - clock.steadySinceMs)).toBeLessThan(TOLERANCE_S * 1_000);
});
