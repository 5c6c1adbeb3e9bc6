import { expect, test } from "vitest";
import { Refusal } from "#kernel/values/refusal.ts";
import { MasterState } from "#proto/pamm/account/v1/account.ts";
import { ClosingState } from "#proto/pamm/subscription/v1/subscription.ts";
import { aCall, aClosing, aMaster, aRegistration, world, type World, UNCHANGED } from "../testing/account.ts";
import { addMaster } from "./add.ts";
import { closeMaster } from "./close-master.ts";
import { createMaster } from "./create.ts";
import { updateMaster } from "./update.ts";
import { getMasterStatus } from "../queries/profiles.ts";

const LOGIN = "3000001";
async function withMaster(): Promise<World> {
  const deps = await world();
  await createMaster(deps, aMaster(), aCall("op-1"));
  deps.counts.push({ masterLogin: LOGIN, investors: 3n });
  return deps;
}

test("closing a Master is answered with the Master, as often as it is sent, and the status shows how far it is", async () => {
  const deps = await withMaster();

  const first = await closeMaster(deps, { id: 1n }, aCall("op-2"));
  expect(first).toMatchObject({ login: LOGIN, name: "Alpha", investorsCount: 3n });
  expect(await closeMaster(deps, { id: 1n }, aCall("op-3"))).toEqual(first);
  deps.closings.set(LOGIN, aClosing({ blockedBy: "master_open_positions" }));
  expect(await getMasterStatus(deps, { id: 1n }, aCall())).toEqual({
    id: 1n,
    login: LOGIN,
    state: MasterState.CLOSING,
    since: new Date("2027-02-03T04:05:06.789Z"),
    closing: {
      investorsLeft: 2n,
      exitsInProgress: 1n,
      lastProgressAt: new Date("2027-02-03T04:06:06.789Z"),
      blockedBy: "master_open_positions",
    },
  });
  const archivedAt = new Date("2027-02-03T05:05:06.789Z");
  deps.closings.set(LOGIN, aClosing({ state: ClosingState.ARCHIVED, archivedAt }));
  expect(await getMasterStatus(deps, { id: 1n }, aCall())).toEqual({
    id: 1n,
    login: LOGIN,
    state: MasterState.ARCHIVED,
    since: archivedAt,
    closing: undefined,
  });
});

test("an unknown Master is not closed, and what subscription refuses is passed on", async () => {
  const deps = await withMaster();
  await expect(closeMaster(deps, { id: 2n }, aCall("op-2"))).rejects.toMatchObject({ code: "master_not_found" });
  const facts = {
    code: "master_open_positions",
    status: "conflict",
    message: "open",
    outcome: "not_executed",
  } as const;
  const refusing = { ...deps.subscriptions, closeMaster: () => Promise.reject(new Refusal(facts)) };
  await expect(closeMaster({ ...deps, subscriptions: refusing }, { id: 1n }, aCall("op-3"))).rejects.toMatchObject(
    facts,
  );
});

test("an archived Master does not change, its login is not registered again, and an earlier change is still answered", async () => {
  const deps = await withMaster();
  const renamed = { ...UNCHANGED, name: "Beta" };
  await updateMaster(deps, renamed, aCall("op-2"));
  await closeMaster(deps, { id: 1n }, aCall("op-3"));
  await expect(updateMaster(deps, { ...UNCHANGED, acceptingInvestors: true }, aCall("op-4"))).rejects.toMatchObject({
    code: "master_closed",
    details: { state: "closing" },
  });
  expect(await updateMaster(deps, { ...UNCHANGED, name: "Gamma" }, aCall("op-5"))).toMatchObject({ name: "Gamma" });

  deps.closings.set(LOGIN, aClosing({ state: ClosingState.ARCHIVED, archivedAt: new Date() }));
  await expect(updateMaster(deps, { ...UNCHANGED, name: "Delta" }, aCall("op-6"))).rejects.toMatchObject({
    code: "master_closed",
    outcome: "not_executed",
    details: { state: "archived" },
  });
  expect(await updateMaster(deps, renamed, aCall("op-2"))).toMatchObject({ name: "Gamma" });
  deps.platform.existing.add(LOGIN).add("6001");
  await expect(addMaster(deps, aRegistration({ login: LOGIN }), aCall("op-7"))).rejects.toMatchObject({
    code: "login_already_registered",
  });
});
