import { expect, test } from "vitest";
import { AccountKind } from "#proto/pamm/account/v1/account.ts";
import { tidyFailed } from "../jobs/resume-provisionings.ts";
import { addInvestor } from "../commands/add-investor.ts";
import { createInvestor } from "../commands/create-investor.ts";
import { createMaster } from "../commands/create-master.ts";
import { aCall, aMaster, anInvestor, world, type World, refusedWith } from "../testing/account.ts";
import { findRegistrations } from "./find-registrations.ts";

const { MASTER, PAYMENT, INVESTOR } = AccountKind;

async function recorded(
  deps: World,
  accounts: readonly (readonly [string, AccountKind, string?])[],
): Promise<string[]> {
  const asked = accounts.map(([login, kind, key = ""]) => ({ login, kind, key }));
  return (await findRegistrations(deps, { accounts: asked })).logins.toSorted();
}

test("registered accounts are found in their roles only", async () => {
  const deps = await world();
  await createMaster(deps, aMaster(), aCall("op-1"));
  deps.platform.existing.add("9001");
  await addInvestor(deps, { login: "9001", name: "Ivy" }, aCall("op-2"));

  const found = await recorded(deps, [
    ["3000001", MASTER, "account:trading:op-1"],
    ["3000002", PAYMENT, "account:payment:op-1"],
    ["9001", INVESTOR],
    ["9002", INVESTOR],
  ]);
  expect(found).toEqual(["3000001", "3000002", "9001"]);
  const inOtherRoles = await recorded(deps, [
    ["3000001", INVESTOR, "account:trading:op-1"],
    ["3000002", MASTER, "account:payment:op-1"],
    ["9001", PAYMENT],
    ["9001", AccountKind.UNSPECIFIED],
  ]);
  expect(inOtherRoles).toEqual([]);
});

test("an account of a request that has not ended, or was refused, is found by its key, also when its answer was lost", async () => {
  const deps = await world();
  deps.platform.faults.push("lost answer");
  await expect(createInvestor(deps, anInvestor(), aCall("op-1"))).rejects.toMatchObject({ outcome: "unknown" });
  deps.platform.faults.push(undefined, refusedWith("group_not_allowed"));
  await expect(createMaster(deps, aMaster(), aCall("op-2"))).rejects.toMatchObject({ code: "group_not_allowed" });
  await tidyFailed(deps);

  const [pending, refused] = ["account:investor:op-1", "account:trading:op-2"].map((key) => ({
    key,
    login: deps.platform.created.get(key)?.login ?? "",
  }));
  const asked = [
    [pending!.login, INVESTOR, pending!.key],
    [refused!.login, MASTER, refused!.key],
    ["3000009", INVESTOR, "account:investor:op-3"],
    ["3000010", INVESTOR, "other:investor:op-1"],
  ] as const;
  expect(await recorded(deps, asked)).toEqual([pending!.login, refused!.login]);
});

test("a request names 1 to 1,000 accounts", async () => {
  const deps = await world();
  const refused = { code: "validation_failed" };
  await expect(findRegistrations(deps, { accounts: [] })).rejects.toMatchObject(refused);
  const many = Array.from({ length: 1_001 }, (_, index) => ({ login: String(index), kind: INVESTOR, key: "" }));
  await expect(findRegistrations(deps, { accounts: many })).rejects.toMatchObject(refused);
});
