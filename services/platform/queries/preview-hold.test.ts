import { expect, test } from "vitest";
import { platformService } from "../service.ts";
import { aDeposit } from "../testing/requests.ts";
import { aCall, eventually, aProcessWith } from "../testing/world.ts";

test.concurrent("a preview of an account lock has the facts of the lock, and takes and delays nothing", async (context) => {
  const { service, deps, login } = await aProcessWith("investor", context);
  await service.transfer(aDeposit(login, 50_00n), aCall());

  const preview = await service.previewHold({ login }, aCall());

  const { rows } = await deps.pool.query("select locked_by, lock_number from account where login = $1", [login]);
  expect(rows).toEqual([{ locked_by: null, lock_number: null }]);
  expect(preview).toEqual({ refusals: [], facts: await service.hold({ login, lockOwner: "w:1:1" }, aCall()) });
});

test.concurrent("an account that another owner has is busy, and its facts are shown", async (context) => {
  const { service, login } = await aProcessWith("investor", context);
  await service.hold({ login, lockOwner: "a" }, aCall());

  const preview = await service.previewHold({ login }, aCall());

  expect(preview).toMatchObject({ refusals: [{ code: "account_busy" }], facts: { logNumber: 0n } });
  await expect(service.hold({ login, lockOwner: "b" }, aCall(2_000))).rejects.toMatchObject({ code: "account_busy" });
  await service.release({ login, lockOwner: "a" }, aCall());
  expect((await service.previewHold({ login }, aCall())).refusals).toEqual([]);
});

test.concurrent("a leg that is being sent makes the account busy", async (context) => {
  const { world, service, deps, login } = await aProcessWith("investor", context);
  await world.control.fault({ command: "trade/balance", effect: "delay", delay_ms: 600_000 });
  const deposit = service.transfer(aDeposit(login, 5_00n), aCall());
  await eventually(
    () => deps.pool.query("select from leg where state = 'SENDING'"),
    ({ rowCount }) => rowCount === 1,
  );

  const busy = await service.previewHold({ login }, aCall());

  expect(busy.refusals).toMatchObject([{ code: "account_busy", operationId: expect.stringMatching(/^\d+$/) }]);
  await world.control.endFaults();
  await deposit;
  expect((await service.previewHold({ login }, aCall())).refusals).toEqual([]);
});

test.concurrent("a stop, a closed gate and a platform that cannot be read are reported together", async (context) => {
  const { world, instance, deps, login } = await aProcessWith("investor", context, { hasJobs: false });
  await deps.pool.query("update account set stopped_reason = 'test' where login = $1", [login]);
  for (const command of ["user/get_batch", "user/get"]) {
    await world.control.fault({ command, effect: "retcode:3", times: 9 });
  }
  const { gate } = deps;
  const closed = { ...instance.deps, gate: { ...gate, read: () => "reading" as const } };

  const preview = await platformService(closed).previewHold({ login }, aCall());

  expect(preview.refusals.map(({ code }) => code)).toEqual(["platform_unavailable", "safety_stop", "account_busy"]);
  expect(preview.facts).toBeUndefined();
  const unmanaged = instance.service.previewHold({ login: "9999" }, aCall());
  await expect(unmanaged).rejects.toMatchObject({ code: "login_not_managed" });
});
