import { expect, test } from "vitest";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aWithdrawal } from "../testing/requests.ts";
import { aCall, aProcessWith } from "../testing/world.ts";

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
