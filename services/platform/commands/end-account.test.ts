import { expect, test } from "vitest";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { inspectClosing } from "../queries/accounts.ts";
import { aDeposit, aWithdrawal, moneyOf } from "../testing/requests.ts";
import { aCall, aProcessWith } from "../testing/world.ts";
import { eraseAccount } from "./end-account.ts";

test.concurrent("a disabled account loses its rights, keeps its money, and can still be emptied", async (context) => {
  const { service, deps, login } = await aProcessWith("investor", context);
  await service.transfer(aDeposit(login, 5_00n), aCall());

  await service.disableAccount({ login }, aCall());
  await service.disableAccount({ login }, aCall());

  const user = await deps.mt5.getUser(login);
  expect(user!.rights & 0x5n).toBe(0x4n);
  expect((await service.transfer(aWithdrawal(login, 5_00n), aCall())).state).toBe(TransferState.APPLIED);
  await expect(service.disableAccount({ login: "77" }, aCall())).rejects.toMatchObject({ code: "login_not_managed" });
});

test.concurrent("an unreachable platform is platform_unavailable", async (context) => {
  const { world, service, login } = await aProcessWith("investor", context, { hasJobs: false, sessionWaitMs: 500 });

  expect(await service.getStatus({}, aCall())).toMatchObject({ reachable: true, reason: "" });
  await world.simulator[Symbol.asyncDispose]();
  await expect(service.disableAccount({ login }, aCall())).rejects.toMatchObject({ code: "platform_unavailable" });
  expect(await service.getStatus({}, aCall())).toMatchObject({ reachable: false, sessions: 0 });
});

test.concurrent("when the platform does not show whether it has disabled an account, the refusal does not say that nothing was executed", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { hasJobs: false });
  await world.control.fault({ command: "user/update", effect: "drop_after", times: 1 });
  const refused: unknown = await instance.service.disableAccount({ login }, aCall()).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "platform_unavailable", outcome: undefined });
});

const CLOSED = { balance: moneyOf(0n), credit: moneyOf(0n), openPositions: 0, operationOpen: false };

test.concurrent("what still has to end is named, and an erased account keeps its comment and can be emptied", async (context) => {
  const { service, deps, login } = await aProcessWith("investor", context);
  expect(await inspectClosing(deps, { login })).toEqual(CLOSED);
  await service.transfer(aDeposit(login, 5_00n), aCall());
  await service.hold({ login, lockOwner: "w:1:1" }, aCall());
  expect(await inspectClosing(deps, { login })).toEqual({ ...CLOSED, balance: moneyOf(5_00n), operationOpen: true });
  await service.release({ login, lockOwner: "w:1:1" }, aCall());

  const before = await deps.mt5.getUser(login);
  expect(await eraseAccount(deps, { login })).toEqual({ shown: true });
  expect(await eraseAccount(deps, { login })).toEqual({ shown: true });
  const { name, email, rights, ...kept } = (await deps.mt5.getUser(login))!;
  expect({ name, email, rights: rights & 0x5n }).toEqual({ name: "erased", email: "", rights: 0x4n });
  expect(before).toMatchObject(kept);

  await service.transfer(aWithdrawal(login, 5_00n), aCall());
  expect(await inspectClosing(deps, { login })).toEqual(CLOSED);
  for (const unmanaged of [service.inspectClosing, service.eraseAccount]) {
    await expect(unmanaged({ login: "77" }, aCall())).rejects.toMatchObject({ code: "login_not_managed" });
  }
});

test.concurrent("an account that the platform has archived is closed by its log, and nothing is changed", async (context) => {
  const { service, deps, login } = await aProcessWith("investor", context);
  await service.transfer(aDeposit(login, 5_00n), aCall());
  const mt5 = { ...deps.mt5, getUser: async () => undefined, eraseUser: async () => undefined };

  expect(await inspectClosing({ ...deps, mt5 }, { login })).toMatchObject({ balance: moneyOf(5_00n) });
  expect(await eraseAccount({ ...deps, mt5 }, { login })).toEqual({ shown: false });
});
