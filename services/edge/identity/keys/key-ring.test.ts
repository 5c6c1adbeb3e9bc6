import { randomBytes } from "node:crypto";
import { register } from "prom-client";
import { expect, test, vi } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { Secret } from "#kernel/values/secret.ts";
import { testDatabase } from "#test/support/database.ts";
import { metricValues } from "#test/support/metric-values.ts";
import { SCOPES } from "../../wire/scopes.ts";
import { findKey, findKeySystem, listAllKeys, saveKeySystem } from "../store/api-keys.ts";
import { mintKey, pepperOf } from "./api-key.ts";
import { createKeyRing, type KeyRingOptions } from "./key-ring.ts";
import {
  createKey,
  type KeyAdministration,
  KeyCommandError,
  type KeyRequest,
  revokeKey,
  rotateKey,
} from "./manage-keys.ts";
import { printKeys } from "./run-command.ts";

const ADDRESS = "192.0.2.1";

const REQUEST: KeyRequest = {
  environment: "live",
  name: "CRM",
  scopes: ["masters:read", "funds:deposit"],
  allowedAddresses: [],
  duplicateComment: "allow" as const,
  expiresAt: null,
};

async function keySystem(overrides: Partial<KeyRingOptions> = {}) {
  const { pool } = await testDatabase("edge");
  const pepper = pepperOf(new Secret(randomBytes(32)));
  const clock = { at: new Date("2026-01-01T00:00:00Z") };
  const now = () => clock.at;
  const options = {
    pool,
    pepper,
    oldPepper: undefined,
    bootstrapKey: undefined,
    now,
    environment: "live" as const,
    ...overrides,
  };
  const keyRing = createKeyRing(options);
  const admin: KeyAdministration = {
    pool,
    pepper: options.pepper,
    now,
    actor: "ann",
    announce: () => keyRing.refresh(),
  };
  const advance = (ms: number) => (clock.at = new Date(clock.at.getTime() + ms));
  return { pool, keyRing, admin, advance, clock };
}

test("a new key is valid at once, and identifies its client and scopes; neither it nor its secret is stored", async () => {
  const { keyRing, admin, pool } = await keySystem();
  const { id, text } = await createKey({ ...admin, announce: async () => {} }, REQUEST);

  expect(await keyRing.authenticate(text, ADDRESS)).toEqual({
    keyId: id,
    clientId: id,
    client: "CRM",
    environment: "live",
    expiresAt: null,
    isLimitedToAddresses: false,
    rejectsDuplicates: false,
    scopes: new Set(["masters:read", "funds:deposit"]),
  });
  const [row] = await many(pool, sql`select to_jsonb(api_key) as stored from api_key`);
  expect(JSON.stringify(row)).not.toContain(text.split("_")[3]);
});

test("a key for another spelling of an owner is refused, and no key is made", async () => {
  const { pool, admin } = await keySystem();
  await createKey(admin, REQUEST);
  await createKey(admin, REQUEST);

  for (const name of ["Crm", "\uff23RM"]) {
    await expect(createKey(admin, { ...REQUEST, name })).rejects.toThrow(
      new KeyCommandError(
        '--name: an owner with this name has keys as "CRM". Write it the same way, or name another owner.',
      ),
    );
  }
  expect(await many(pool, sql`select distinct name from api_key`)).toEqual([{ name: "CRM" }]);
});

test("every text other than the key is refused", async () => {
  const { keyRing, admin } = await keySystem();
  const [first, second] = [await createKey(admin, REQUEST), await createKey(admin, REQUEST)];
  const swapped = first.text.replace(first.id, second.id);
  const wrong = [swapped, first.text.slice(0, -1), first.text.toUpperCase(), `${first.text}x`, first.id, ""];

  expect(await Promise.all(wrong.map((text) => keyRing.authenticate(text, ADDRESS)))).toEqual(
    wrong.map(() => undefined),
  );
});

test("an unknown id costs the same queries and hashes as a known one with a wrong secret", async () => {
  const pepper = pepperOf(new Secret(randomBytes(32)));
  const hash = vi.fn(pepper.hash);
  const { pool } = await testDatabase("edge");
  const query = vi.spyOn(pool, "query");
  const { keyRing, admin } = await keySystem({ pool, pepper: { ...pepper, hash } });
  const known = await createKey({ ...admin, pool }, REQUEST);
  // From now on its secret is another one.
  await pool.query("update api_key set hash = $1", [randomBytes(32)]);
  await keyRing.refresh();
  const costOf = async (text: string) => {
    hash.mockClear();
    query.mockClear();
    expect(await keyRing.authenticate(text, ADDRESS)).toBeUndefined();
    return [hash.mock.calls.length, query.mock.calls.length];
  };

  expect(await costOf(known.text)).toEqual(await costOf(mintKey("live").text));
});

test("a key that was presented before is not hashed with the pepper again, until the keys are read again", async () => {
  const pepper = pepperOf(new Secret(randomBytes(32)));
  const hash = vi.fn(pepper.hash);
  const { keyRing, admin } = await keySystem({ pepper: { ...pepper, hash } });
  const { text } = await createKey(admin, REQUEST);
  await keyRing.authenticate(text, ADDRESS);
  hash.mockClear();

  expect(await keyRing.authenticate(text, ADDRESS)).toBeDefined();
  expect(hash).not.toHaveBeenCalled();
  await keyRing.refresh();
  expect(await keyRing.authenticate(text, ADDRESS)).toBeDefined();
  expect(hash).toHaveBeenCalled();
});

test("a key that is revoked while it is verified is not remembered", async () => {
  const { keyRing, admin } = await keySystem();
  const { id, text } = await createKey({ ...admin, announce: async () => {} }, REQUEST);
  // The first use reads the keys, and the revocation reads them once more meanwhile.
  await Promise.all([keyRing.authenticate(text, ADDRESS), revokeKey(admin, id)]);

  expect(await keyRing.authenticate(text, ADDRESS)).toBeUndefined();
});

test("an expired key is refused without a wake-up signal", async () => {
  const { keyRing, admin, advance, clock } = await keySystem();
  const { text } = await createKey(admin, { ...REQUEST, expiresAt: new Date(clock.at.getTime() + 10_000) });
  advance(9_999);
  expect(await keyRing.authenticate(text, ADDRESS)).toBeDefined();
  advance(1);

  expect(await keyRing.authenticate(text, ADDRESS)).toBeUndefined();
});

test("a rotated key has the same rights, and the old one stays valid for the overlap only", async () => {
  const { keyRing, admin, advance, pool } = await keySystem();
  const old = await createKey(admin, { ...REQUEST, allowedAddresses: [ADDRESS] });
  const rotated = await rotateKey(admin, old.id, DAY_MS);
  const [stored, replaced] = [await findKey(pool, rotated.id), await findKey(pool, old.id)];

  expect(stored).toMatchObject({
    name: "CRM",
    scopes: REQUEST.scopes,
    allowedAddresses: [ADDRESS],
    replaces: old.id,
    expiresAt: null,
  });
  expect(replaced?.expiresAt).toEqual(rotated.oldExpiresAt);
  expect([
    await keyRing.authenticate(old.text, ADDRESS),
    await keyRing.authenticate(rotated.text, ADDRESS),
  ]).toMatchObject([{ keyId: old.id }, { keyId: rotated.id }]);
  advance(DAY_MS);
  await keyRing.refresh();
  expect([
    await keyRing.authenticate(old.text, ADDRESS),
    await keyRing.authenticate(rotated.text, ADDRESS),
  ]).toMatchObject([undefined, { keyId: rotated.id }]);
});

test("every key of a chain of rotations belongs to one client", async () => {
  const { keyRing, admin } = await keySystem();
  const first = await createKey(admin, REQUEST);
  const second = await rotateKey(admin, first.id, DAY_MS);
  const chain = [first, second, await rotateKey(admin, second.id, DAY_MS), await createKey(admin, REQUEST)];
  const callers = await Promise.all(chain.map(({ text }) => keyRing.authenticate(text, ADDRESS)));

  expect(callers.map((caller) => caller?.clientId)).toEqual([first.id, first.id, first.id, chain[3]?.id]);
});

test("a rotation never extends the validity of the old key", async () => {
  const { admin, pool, clock } = await keySystem();
  const expiresAt = new Date(clock.at.getTime() + 1_000);
  const old = await createKey(admin, { ...REQUEST, expiresAt });
  await rotateKey(admin, old.id, DAY_MS);

  expect((await findKey(pool, old.id))?.expiresAt).toEqual(expiresAt);
});

test("a revoked key cannot be rotated, and an unknown key cannot be revoked", async () => {
  const { admin } = await keySystem();
  const { id } = await createKey(admin, REQUEST);
  await revokeKey(admin, id);

  await expect(rotateKey(admin, id, DAY_MS)).rejects.toThrow(`Key ${id} is revoked. Create a new key.`);
  await expect(revokeKey(admin, "AAAAAAAAAAAA")).rejects.toThrow("Key AAAAAAAAAAAA does not exist.");
});

test("the last use is recorded", async () => {
  const { keyRing, admin, pool, clock } = await keySystem();
  const { id, text } = await createKey(admin, REQUEST);
  await keyRing.authenticate(text, ADDRESS);
  await keyRing.refresh();

  expect((await findKey(pool, id))?.lastUsedAt).toEqual(clock.at);
});

test("a key that was used is hashed with the current pepper, so that the previous one can be removed", async () => {
  const oldPepper = pepperOf(new Secret(randomBytes(32)));
  const { pool, keyRing, admin } = await keySystem({ oldPepper });
  const { id, text } = await createKey({ ...admin, pepper: oldPepper }, REQUEST);
  const unused = await createKey({ ...admin, pepper: oldPepper }, { ...REQUEST, name: "unused" });
  const counted = async () => {
    const { values } = await register.getSingleMetric("pamm_api_keys")!.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels["pepper"], value]));
  };
  await keyRing.refresh();
  expect(await counted()).toEqual({ current: 0, other: 2 });

  expect(await keyRing.authenticate(text, ADDRESS)).toMatchObject({ client: "CRM" });
  await keyRing.authenticate(`${unused.text}x`, ADDRESS);
  await keyRing.refresh();
  await keyRing.refresh();

  expect(await counted()).toEqual({ current: 1, other: 1 });
  expect(await keyRing.authenticate(text, ADDRESS)).toMatchObject({ keyId: id });
  const later = createKeyRing({
    pool,
    pepper: admin.pepper,
    oldPepper: undefined,
    environment: "live",
    bootstrapKey: undefined,
    now: admin.now,
  });
  await later.refresh();
  expect(await later.authenticate(text, ADDRESS)).toMatchObject({ keyId: id });
  expect(await later.authenticate(unused.text, ADDRESS)).toBeUndefined();
});

test("a key of the other environment is refused like an unknown one, also by a system that had created it", async () => {
  const { pool, keyRing, admin } = await keySystem();
  const live = await createKey(admin, REQUEST);
  const test = await createKey(admin, { ...REQUEST, environment: "test" });
  await keyRing.refresh();
  expect(await keyRing.authenticate(live.text, ADDRESS)).toMatchObject({ keyId: live.id });
  expect(await keyRing.authenticate(test.text, ADDRESS)).toBeUndefined();

  const options = { pool, pepper: admin.pepper, oldPepper: undefined, bootstrapKey: undefined, now: admin.now };
  const rehearsal = createKeyRing({ ...options, environment: "test" });
  await rehearsal.refresh();
  expect(await rehearsal.authenticate(live.text, ADDRESS)).toBeUndefined();
  expect(await rehearsal.authenticate(test.text, ADDRESS)).toMatchObject({ keyId: test.id });

  await saveKeySystem(pool, { environment: "live", hasBootstrapKey: false });
  await expect(createKey(admin, { ...REQUEST, environment: "test" })).rejects.toThrow("must be live");
  const own = await createKey(admin, { ...REQUEST, environment: undefined });
  expect(own.text).toMatch(/^pamm_live_/);
});

test("the bootstrap key may be any text and has every scope, its use is on record, and it is listed while an edge accepts it", async () => {
  const text = "any_16_visible?_not_quite";
  const { pool, keyRing, clock } = await keySystem({ bootstrapKey: new Secret(text) });
  await saveKeySystem(pool, { environment: "live", hasBootstrapKey: true });
  expect(await keyRing.authenticate(text, ADDRESS)).toEqual({
    keyId: "bootstrap",
    clientId: "bootstrap",
    client: "bootstrap",
    environment: "live",
    expiresAt: null,
    isLimitedToAddresses: false,
    rejectsDuplicates: false,
    scopes: new Set(SCOPES),
  });
  expect(await keyRing.authenticate(`${text}x`, ADDRESS)).toBeUndefined();
  await keyRing.refresh();
  const printed = async () => printKeys(await listAllKeys(pool), await findKeySystem(pool), clock.at);
  expect(await printed()).toMatch(/^bootstrap .* 2026-01-01T00:00Z /m);

  await saveKeySystem(pool, { environment: "live", hasBootstrapKey: false });
  expect(await printed()).not.toContain("bootstrap");
});

test("failed attempts from one address are limited, and a valid key from the same address is accepted", async () => {
  const { keyRing, admin } = await keySystem();
  const { text } = await createKey(admin, REQUEST);
  const attempts = await Promise.allSettled(Array.from({ length: 120 }, () => keyRing.authenticate("guess", ADDRESS)));

  expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
  for (const address of [ADDRESS, `::ffff:${ADDRESS}`]) {
    await expect(keyRing.authenticate("guess", address)).rejects.toMatchObject({ code: "rate_limited" });
  }
  expect(await keyRing.authenticate("guess", "198.51.100.1")).toBeUndefined();
  expect(await keyRing.authenticate(text, ADDRESS)).toBeDefined();
});

test("when the keys could not be read for a minute, every request is refused until they are read again", async () => {
  const { keyRing, admin, advance } = await keySystem();
  const { text } = await createKey(admin, REQUEST);
  advance(60_001);

  await expect(keyRing.authenticate(text, ADDRESS)).rejects.toMatchObject({ code: "service_unavailable" });
  await keyRing.refresh();
  expect(await keyRing.authenticate(text, ADDRESS)).toBeDefined();
});

test("every change of a key is in the audit, with the name of who made it, in the commit of the change", async () => {
  const { admin, pool } = await keySystem();
  const { id } = await createKey(admin, REQUEST);
  await rotateKey(admin, id, DAY_MS);
  await revokeKey({ ...admin, actor: "bob" }, id);
  await expect(rotateKey(admin, id, DAY_MS)).rejects.toThrow("revoked");

  expect(
    await many(pool, sql`select client, method, route, operation_id, decision from access_audit order by id`),
  ).toEqual(
    [
      ["ann", "keys create"],
      ["ann", "keys rotate"],
      ["bob", "keys revoke"],
    ].map(([client, route]) => ({ client, method: "KEYS", route, operation_id: id, decision: "allowed" })),
  );
});

test("each failed authentication is counted once, by its reason, which the caller is not given", async () => {
  const { pool, keyRing, admin, advance } = await keySystem();
  const before = await metricValues("pamm_http_authentication_failures_total");
  const key = async (request: Partial<KeyRequest> = {}) => (await createKey(admin, { ...REQUEST, ...request })).text;
  const ofToday = await key({ expiresAt: new Date("2026-01-02T00:00:00Z") });
  const valid = await key();
  const changed = await createKey(admin, REQUEST);
  await pool.query("update api_key set hash = $1 where id = $2", [randomBytes(32), changed.id]);
  const ofNetwork = await key({ allowedAddresses: ["198.51.100.0/24"] });
  for (const form of ["", "::ffff:"]) {
    expect(await keyRing.authenticate(ofNetwork, `${form}198.51.100.1`)).toMatchObject({ client: "CRM" });
  }
  const presented = [
    "not-a-key",
    mintKey("live").text,
    changed.text,
    (await createKey(admin, { ...REQUEST, environment: "test" })).text,
    ofNetwork,
  ];

  for (const one of presented) expect(await keyRing.authenticate(one, ADDRESS)).toBeUndefined();
  advance(2 * DAY_MS);
  await keyRing.refresh();
  expect(await keyRing.authenticate(ofToday, ADDRESS)).toBeUndefined();
  expect(await keyRing.authenticate(valid, ADDRESS)).toMatchObject({ client: "CRM" });

  const after = await metricValues("pamm_http_authentication_failures_total");
  const counted = Object.entries(after).map(([reason, times]) => [reason, times - (before[reason] ?? 0)] as const);
  expect(Object.fromEntries(counted.filter(([, times]) => times > 0))).toEqual({
    malformed_key: 1,
    unknown_key: 1,
    wrong_secret: 1,
    other_environment: 1,
    other_address: 1,
    not_in_force: 1,
  });
});
