import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { Secret } from "#kernel/secret.ts";
import { testDatabase } from "#test/support/database.ts";
import { SCOPES } from "./scopes.ts";
import { findKey } from "../store/api-keys.ts";
import { createKeyRing, type KeyRingOptions } from "./key-ring.ts";
import { createKey, type KeyAdministration, type KeyRequest, revokeKey, rotateKey } from "./manage-keys.ts";
import { pepperOf } from "./pepper.ts";

const HERE = "192.0.2.1";
const DAY_MS = 24 * 60 * 60 * 1_000;

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
  const options = { pool, pepper, oldPepper: undefined, bootstrapKey: undefined, now, ...overrides };
  const notify = createKeyRing(options);
  const admin: KeyAdministration = { pool, pepper: options.pepper, now, announce: () => notify.refresh() };
  const pass = (ms: number) => (clock.at = new Date(clock.at.getTime() + ms));
  return { pool, notify, admin, pass, clock };
}

test("a new key is valid at once, and identifies its client and scopes", async () => {
  const { notify, admin } = await keySystem();
  const { id, text } = await createKey({ ...admin, announce: async () => {} }, REQUEST);

  expect(await notify.authenticate(text, HERE)).toEqual({
    keyId: id,
    client: "CRM",
    rejectsDuplicates: false,
    scopes: new Set(["masters:read", "funds:deposit"]),
  });
});

test("neither the key nor its secret is stored", async () => {
  const { pool, admin } = await keySystem();
  const { text } = await createKey(admin, REQUEST);
  const rows = await many(pool, sql`select to_jsonb(api_key) as stored from api_key`);

  expect(JSON.stringify(rows)).not.toContain(text.split("_")[3]);
  expect(rows).toHaveLength(1);
});

test("every other text than the key is refused", async () => {
  const { notify, admin } = await keySystem();
  const [mine, other] = [await createKey(admin, REQUEST), await createKey(admin, REQUEST)];
  const swapped = mine.text.replace(mine.id, other.id);
  const wrong = [swapped, mine.text.slice(0, -1), mine.text.toUpperCase(), `${mine.text}x`, mine.id, ""];

  expect(await Promise.all(wrong.map((text) => notify.authenticate(text, HERE)))).toEqual(wrong.map(() => undefined));
});

test("a revoked key is refused once the key ring has read the change", async () => {
  const { notify, admin } = await keySystem();
  const { id, text } = await createKey(admin, REQUEST);
  expect(await notify.authenticate(text, HERE)).toBeDefined();
  await revokeKey(admin, id);

  expect(await notify.authenticate(text, HERE)).toBeUndefined();
});

test("an expired key is refused without a signal", async () => {
  const { notify, admin, pass, clock } = await keySystem();
  const { text } = await createKey(admin, { ...REQUEST, expiresAt: new Date(clock.at.getTime() + 10_000) });
  pass(9_999);
  expect(await notify.authenticate(text, HERE)).toBeDefined();
  pass(1);

  expect(await notify.authenticate(text, HERE)).toBeUndefined();
});

test("a rotated key has the same rights, and the old one stays valid for the overlap only", async () => {
  const { notify, admin, pass, pool } = await keySystem();
  const old = await createKey(admin, { ...REQUEST, allowedAddresses: [HERE] });
  const made = await rotateKey(admin, old.id, DAY_MS);
  const [stored, replaced] = [await findKey(pool, made.id), await findKey(pool, old.id)];

  expect(stored).toMatchObject({
    name: "CRM",
    scopes: REQUEST.scopes,
    allowedAddresses: [HERE],
    replaces: old.id,
    expiresAt: null,
  });
  expect(replaced?.expiresAt).toEqual(made.oldExpiresAt);
  expect([await notify.authenticate(old.text, HERE), await notify.authenticate(made.text, HERE)]).toMatchObject([
    { keyId: old.id },
    { keyId: made.id },
  ]);
  pass(DAY_MS);
  await notify.refresh();
  expect([await notify.authenticate(old.text, HERE), await notify.authenticate(made.text, HERE)]).toMatchObject([
    undefined,
    { keyId: made.id },
  ]);
});

test("a rotation never extends the validity of the old key", async () => {
  const { admin, pool, clock } = await keySystem();
  const expiresAt = new Date(clock.at.getTime() + 1_000);
  const old = await createKey(admin, { ...REQUEST, expiresAt });
  await rotateKey(admin, old.id, DAY_MS);

  expect((await findKey(pool, old.id))?.expiresAt).toEqual(expiresAt);
});

test("a key that is over is not rotated, and one that never was is not revoked", async () => {
  const { admin } = await keySystem();
  const { id } = await createKey(admin, REQUEST);
  await revokeKey(admin, id);

  await expect(rotateKey(admin, id, DAY_MS)).rejects.toThrow(`Key ${id} is revoked. Create a new key.`);
  await expect(revokeKey(admin, "AAAAAAAAAAAA")).rejects.toThrow("Key AAAAAAAAAAAA does not exist.");
});

test("a key with addresses is valid from these only", async () => {
  const { notify, admin } = await keySystem();
  const { text } = await createKey(admin, { ...REQUEST, allowedAddresses: ["192.0.2.0/24"] });

  expect([await notify.authenticate(text, HERE), await notify.authenticate(text, "198.51.100.1")]).toMatchObject([
    { client: "CRM" },
    undefined,
  ]);
});

test("the last use is recorded", async () => {
  const { notify, admin, pool, clock } = await keySystem();
  const { id, text } = await createKey(admin, REQUEST);
  await notify.authenticate(text, HERE);
  await notify.refresh();

  expect((await findKey(pool, id))?.lastUsedAt).toEqual(clock.at);
});

test("the bootstrap key has every scope and needs no form", async () => {
  const key = "any 16 visible? not quite".replaceAll(" ", "_");
  const { notify } = await keySystem({ bootstrapKey: new Secret(key) });

  expect(await notify.authenticate(key, HERE)).toEqual({
    keyId: "bootstrap",
    client: "bootstrap",
    rejectsDuplicates: false,
    scopes: new Set(SCOPES),
  });
  expect(await notify.authenticate(`${key}x`, HERE)).toBeUndefined();
});

test("a key that was created with the previous pepper stays valid", async () => {
  const oldPepper = pepperOf(new Secret(randomBytes(32)));
  const { notify, admin } = await keySystem({ oldPepper });
  const { text } = await createKey({ ...admin, pepper: oldPepper }, REQUEST);

  expect(await notify.authenticate(text, HERE)).toMatchObject({ client: "CRM" });
});

test("failures of an address are slowed down, and its valid key is not", async () => {
  const { notify, admin } = await keySystem();
  const { text } = await createKey(admin, REQUEST);
  const attempts = await Promise.allSettled(Array.from({ length: 120 }, () => notify.authenticate("guess", HERE)));

  expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
  await expect(notify.authenticate("guess", HERE)).rejects.toMatchObject({ code: "rate_limited" });
  expect(await notify.authenticate("guess", "198.51.100.1")).toBeUndefined();
  expect(await notify.authenticate(text, HERE)).toBeDefined();
});

test("keys that could not be read for a minute are not trusted any more", async () => {
  const { notify, admin, pass } = await keySystem();
  const { text } = await createKey(admin, REQUEST);
  pass(60_001);

  await expect(notify.authenticate(text, HERE)).rejects.toMatchObject({ code: "service_unavailable" });
  await notify.refresh();
  expect(await notify.authenticate(text, HERE)).toBeDefined();
});
