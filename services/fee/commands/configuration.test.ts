import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import type { UpdateConfigurationRequest } from "#proto/pamm/fee/v1/fee.ts";
import { configurationReads, getConfiguration } from "../queries/get-configuration.ts";
import { aCall, feeDeps, INVESTOR } from "../testing/fee.ts";
import { configure, updateConfiguration } from "./configure.ts";

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));

function anUpdate(parts: Partial<UpdateConfigurationRequest>): UpdateConfigurationRequest {
  return {
    investorLogin: INVESTOR,
    ratePpm: undefined,
    enabled: undefined,
    effectiveSince: undefined,
    upsert: true,
    ...parts,
  };
}

const ASSIGNED = {
  key: "subscription:1",
  investorId: 17n,
  investorLogin: INVESTOR,
  ratePpm: 300_000,
  enabled: true,
  effectiveSince: day(1),
};

test("the configuration of an assignment is valid from the start of the subscription, once per key", async () => {
  let today = day(2);
  const deps = await feeDeps(() => today);

  const first = await configure(deps, ASSIGNED);
  today = day(3);

  expect(await configure(deps, ASSIGNED)).toEqual(first);
  expect(await getConfiguration(deps, configurationReads(deps), { investorLogin: INVESTOR }, aCall())).toEqual({
    investorId: 17n,
    investorLogin: INVESTOR,
    ratePpm: 300_000,
    enabled: true,
    effectiveSince: day(1),
    createdAt: day(2),
    updatedAt: day(2),
  });
  expect(await many(deps.pool, sql`select key from fee_version`)).toEqual([{ key: "subscription:1" }]);
});

test("a key that was used for another Investor adds nothing", async () => {
  const deps = await feeDeps(() => day(2));
  await configure(deps, ASSIGNED);
  const other = { ...ASSIGNED, investorLogin: "3000099", investorId: 99n };

  await expect(configure(deps, other)).rejects.toThrow("the key was used for another Investor");

  expect(await many(deps.pool, sql`select investor_login from fee_configuration`)).toEqual([
    { investor_login: INVESTOR },
  ]);
});

test("an update is answered with the requested configuration and the new updated_at", async () => {
  let today = day(2);
  const deps = await feeDeps(() => today);
  await configure(deps, ASSIGNED);
  today = day(5);

  expect(await updateConfiguration(deps, anUpdate({ ratePpm: 250_000 }), aCall("c-1"))).toEqual({
    investorId: 17n,
    investorLogin: INVESTOR,
    ratePpm: 250_000,
    enabled: true,
    effectiveSince: day(5),
    createdAt: day(2),
    updatedAt: day(5),
  });
});

test("a repeated update gets the same answer and adds nothing", async () => {
  let today = day(2);
  const deps = await feeDeps(() => today);
  const first = await updateConfiguration(deps, anUpdate({ ratePpm: 250_000 }), aCall("c-1"));
  today = day(5);

  expect(await updateConfiguration(deps, anUpdate({ ratePpm: 250_000 }), aCall("c-1"))).toEqual(first);
});

test("a scheduled update is answered at once and returned by queries when it is valid", async () => {
  let today = day(2);
  const deps = await feeDeps(() => today);
  await configure(deps, ASSIGNED);

  const scheduled = await updateConfiguration(
    deps,
    anUpdate({ ratePpm: 100_000, effectiveSince: day(9) }),
    aCall("c-1"),
  );

  expect(scheduled).toMatchObject({ ratePpm: 100_000, effectiveSince: day(9) });
  expect(await getConfiguration(deps, configurationReads(deps), { investorLogin: INVESTOR }, aCall())).toMatchObject({
    ratePpm: 300_000,
  });
  today = day(9);
  expect(await getConfiguration(deps, configurationReads(deps), { investorLogin: INVESTOR }, aCall())).toMatchObject({
    ratePpm: 100_000,
    effectiveSince: day(9),
  });
});

test("a first configuration may be created without a subscription", async () => {
  const deps = await feeDeps(() => day(2));

  expect(await updateConfiguration(deps, anUpdate({ ratePpm: 0, enabled: false }), aCall("c-1"))).toMatchObject({
    ratePpm: 0,
    enabled: false,
    effectiveSince: day(2),
    createdAt: day(2),
  });
});

test("an update without upsert requires a configuration", async () => {
  const deps = await feeDeps(() => day(2));

  await expect(updateConfiguration(deps, anUpdate({ ratePpm: 1, upsert: false }), aCall("c-1"))).rejects.toMatchObject({
    code: "fee_configuration_not_found",
  });
});

test("a first configuration requires a rate", async () => {
  const deps = await feeDeps(() => day(2));

  await expect(updateConfiguration(deps, anUpdate({ enabled: true }), aCall("c-1"))).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "rate", code: "required" }],
  });
});

test.each([-1, 1_000_001])("a rate of %d parts per million is refused", async (ratePpm) => {
  const deps = await feeDeps(() => day(2));
  const refused = { code: "validation_failed", errors: [{ field: "rate", code: "out_of_range" }] };

  await expect(updateConfiguration(deps, anUpdate({ ratePpm }), aCall("c-1"))).rejects.toMatchObject(refused);
  await expect(configure(deps, { ...ASSIGNED, ratePpm })).rejects.toMatchObject(refused);
});

test("an unknown Investor has no configuration and gets none", async () => {
  const deps = await feeDeps(() => day(2));
  const unknown = { code: "investor_not_found" };

  await expect(getConfiguration(deps, configurationReads(deps), { investorLogin: "1" }, aCall())).rejects.toMatchObject(
    unknown,
  );
  await expect(
    updateConfiguration(deps, anUpdate({ investorLogin: "1", ratePpm: 1 }), aCall("c")),
  ).rejects.toMatchObject(unknown);
});

test("an Investor without a configuration is refused with a code of its own", async () => {
  const deps = await feeDeps(() => day(2));

  await expect(
    getConfiguration(deps, configurationReads(deps), { investorLogin: INVESTOR }, aCall()),
  ).rejects.toMatchObject({
    code: "fee_configuration_not_found",
  });
});

test("ten concurrent updates add ten versions", async () => {
  const deps = await feeDeps(() => day(2));
  await configure(deps, ASSIGNED);

  await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      updateConfiguration(deps, anUpdate({ ratePpm: index }), aCall(`c-${index}`)),
    ),
  );

  expect(await many(deps.pool, sql`select count(*) from fee_version`)).toEqual([{ count: 11n }]);
});
