import { expect, test } from "vitest";
import type { Labels, LabelsChange } from "#proto/pamm/common/v1/labels.ts";
import { findAccounts, findInvestor } from "../queries/find.ts";
import { getInvestorProfile, getMasterProfile, listInvestors } from "../queries/profiles.ts";
import {
  aCall,
  aMaster,
  anInvestor,
  aRegistration,
  UNCHANGED,
  world,
  type World,
  refusedWith,
} from "../testing/account.ts";
import { addInvestor, addMaster } from "./add.ts";
import { createInvestor, createMaster } from "./create.ts";
import { eraseInvestor } from "./erase-investor.ts";
import { updateInvestor, updateMaster } from "./update.ts";

const A: Labels = { externalId: "CRM-A", metadata: { segment: "retail" } };
const IN_USE = { code: "external_id_in_use", outcome: "not_executed", errors: [{ field: "external_id" }] };
const OTHER = { firstName: "Otto", lastName: "Other", name: "Otto", username: "otto@example.com" };

const change = (parts: Partial<LabelsChange> = {}): LabelsChange => ({
  setMetadata: {},
  removedMetadata: [],
  ...parts,
});

async function profileOf(deps: World, id = 1n) {
  const { investor, email, labels } = await getInvestorProfile(deps, { id });
  return { name: investor?.name, email, labels };
}

test("an Investor is created with labels, renamed and labelled anew; every read has the new name", async () => {
  const deps = await world();
  await createInvestor(deps, anInvestor({ labels: A }), aCall("op-1"));
  expect(await profileOf(deps)).toEqual({ name: "Ivy", email: "ivy@example.com", labels: A });

  const labels = change({ externalId: "CRM-B", setMetadata: { lead: "7" }, removedMetadata: ["segment"] });
  const answer = await updateInvestor(
    deps,
    { id: 1n, name: "Ivy Irving", email: "ivy@example.org", labels },
    aCall("op-2"),
  );

  const expected = { email: "ivy@example.org", labels: { externalId: "CRM-B", metadata: { lead: "7" } } };
  expect(answer).toMatchObject({ investor: { id: 1n, login: "3000001", name: "Ivy Irving" }, ...expected });
  expect(await profileOf(deps)).toEqual({ name: "Ivy Irving", ...expected });
  expect(await findInvestor(deps, { login: "3000001" })).toMatchObject({ name: "Ivy Irving" });
  expect(await findAccounts(deps, { logins: ["3000001"] })).toMatchObject({ accounts: [{ name: "Ivy Irving" }] });
  // The same creation again is answered as before.
  expect(await createInvestor(deps, anInvestor({ labels: A }), aCall("op-1"))).toMatchObject({
    investor: { name: "Ivy" },
  });
  await updateInvestor(deps, { id: 1n, labels: change({ externalId: "" }) }, aCall("op-3"));
  expect((await profileOf(deps)).labels).toEqual({ externalId: undefined, metadata: { lead: "7" } });
});

test("a repeated update changes nothing after a later one", async () => {
  const deps = await world();
  await createInvestor(deps, anInvestor(), aCall("op-1"));
  await updateInvestor(deps, { id: 1n, name: "First" }, aCall("op-2"));
  await updateInvestor(deps, { id: 1n, name: "Second" }, aCall("op-3"));

  expect(await updateInvestor(deps, { id: 1n, name: "First" }, aCall("op-2"))).toMatchObject({
    investor: { name: "Second" },
  });
});

test("an external id is unique in its role, for accounts that are created, registered and changed", async () => {
  const deps = await world();
  await createInvestor(deps, anInvestor({ labels: A }), aCall("op-1"));
  deps.platform.existing.add("9001").add("5001").add("6001");
  const created = deps.platform.created.size;

  await expect(createInvestor(deps, anInvestor({ ...OTHER, labels: A }), aCall("op-2"))).rejects.toMatchObject(IN_USE);
  await expect(addInvestor(deps, { login: "9001", name: "I", labels: A }, aCall("op-3"))).rejects.toMatchObject(IN_USE);
  expect([deps.platform.created.size, deps.platform.adopted]).toEqual([created, []]);
  await addInvestor(deps, { login: "9001", name: "I" }, aCall("op-4"));
  const changed = updateInvestor(deps, { id: 2n, labels: change({ externalId: "CRM-A" }) }, aCall("op-5"));
  await expect(changed).rejects.toMatchObject(IN_USE);
  // The same id of a Master is another one.
  await addMaster(deps, { ...aRegistration(), labels: A }, aCall("op-6"));
  await expect(createMaster(deps, aMaster({ labels: A }), aCall("op-7"))).rejects.toMatchObject(IN_USE);
  const labels = change({ externalId: "CRM-M", setMetadata: { desk: "1" } });
  await updateMaster(deps, { ...UNCHANGED, labels }, aCall("op-8"));
  expect(await getMasterProfile(deps, { id: 1n }, aCall())).toMatchObject({
    master: { login: "5001", investorsCount: 0n },
    email: undefined,
    labels: { externalId: "CRM-M", metadata: { segment: "retail", desk: "1" } },
  });
});

test("of ten requests with one external id one gets it, and a refused creation gives it back", async () => {
  const deps = await world();
  deps.platform.faults.push(refusedWith("group_not_allowed"));
  await createInvestor(deps, anInvestor({ labels: A }), aCall("refused")).catch(() => undefined);
  const logins = Array.from({ length: 10 }, (_, index) => String(9_001 + index));
  for (const login of logins) deps.platform.existing.add(login);

  const results = await Promise.allSettled(
    logins.map((login) => addInvestor(deps, { login, name: "I", labels: A }, aCall(`op-${login}`))),
  );

  const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  expect(refused).toHaveLength(9);
  for (const reason of refused) expect(reason).toMatchObject(IN_USE);
  const { items } = await listInvestors(deps, { filter: { externalId: "CRM-A" }, afterId: 0n, limit: 10 });
  expect(items).toHaveLength(1);
});

test("all mistakes are reported at once; too many members after a change, and nothing to change, are some", async () => {
  const deps = await world();
  await createInvestor(deps, anInvestor(), aCall("op-1"));
  const many = (prefix: string) =>
    Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`${prefix}${index}`, ""]));
  await updateInvestor(deps, { id: 1n, labels: change({ setMetadata: many("a") }) }, aCall("op-2"));
  const fieldsOf = async (request: object) =>
    await updateInvestor(deps, { id: 1n, ...request }, aCall("op-3")).catch((error: unknown) =>
      (error as { errors: { field: string }[] }).errors.map(({ field }) => field),
    );

  expect(await fieldsOf({ labels: change({ setMetadata: many("b") }) })).toEqual(["metadata"]);
  expect(await fieldsOf({ name: " ", email: "x" })).toEqual(["name", "email"]);
  expect(await fieldsOf({})).toEqual([""]);
  expect(Object.keys((await profileOf(deps)).labels?.metadata ?? {})).toHaveLength(11);
  await expect(updateInvestor(deps, { id: 9n, name: "X" }, aCall("op-4"))).rejects.toMatchObject({
    code: "investor_not_found",
  });
});

test("an erasure ends the names, the address and the labels for good", async () => {
  const deps = await world();
  await createInvestor(deps, anInvestor({ labels: A }), aCall("op-1"));
  await updateInvestor(deps, { id: 1n, name: "Renamed", email: "new@example.com" }, aCall("op-2"));
  await eraseInvestor(deps, { login: "3000001", actor: "anna" }, aCall("op-3"));

  expect(await profileOf(deps)).toEqual({ name: "erased", email: "erased", labels: undefined });
  await expect(updateInvestor(deps, { id: 1n, name: "Back" }, aCall())).rejects.toMatchObject({
    code: "investor_erased",
  });
});
