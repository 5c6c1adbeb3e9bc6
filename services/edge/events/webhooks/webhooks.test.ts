import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { Secret } from "#kernel/values/secret.ts";
import { testDatabase } from "#test/support/database.ts";
import { metricValues } from "#test/support/metric-values.ts";
import { hasWebhooks } from "../store/webhooks.ts";
import { createSecretCipher, encryptAgain } from "./secret-cipher.ts";
import { MAX_WEBHOOKS, openWebhooks } from "./webhooks.ts";

const [OLD, NEW] = [1, 2].map((byte) => new Secret(Buffer.alloc(32, byte))) as [Secret<Buffer>, Secret<Buffer>];
const ENDPOINT = { url: "https://crm.example.com/events", types: "deposit.*" };

let commands = 0;
const aCommand = () => ({ commandId: `command-${(commands += 1)}` });
const of = (clientId: string, id = 0n) => ({ clientId, id });

async function aWorld() {
  const { pool } = await testDatabase("edge");
  const webhooks = openWebhooks(pool, createSecretCipher([OLD]));
  const create = (clientId: string, command = aCommand()) => webhooks.create({ clientId, ...ENDPOINT }, command);
  return { pool, webhooks, create };
}

test("a client sees and changes its own webhooks only", async () => {
  const { webhooks, create } = await aWorld();
  const { webhook } = await create("anna");
  const missing = expect.objectContaining({ code: "webhook_not_found" });

  expect(await webhooks.list(of("boris"))).toEqual([]);
  expect((await webhooks.list(of("anna"))).map(({ id }) => id)).toEqual([webhook.id]);
  await expect(webhooks.get(of("boris", webhook.id))).rejects.toEqual(missing);
  const change = { url: undefined, types: undefined, isEnabled: false };
  await expect(webhooks.update({ ...of("boris", webhook.id), ...change }, aCommand())).rejects.toEqual(missing);
  await expect(webhooks.rotate(of("boris", webhook.id), aCommand())).rejects.toEqual(missing);
  await expect(webhooks.replay({ ...of("boris", webhook.id), after: 0n }, aCommand())).rejects.toEqual(missing);
  await expect(webhooks.remove(of("boris", webhook.id), aCommand())).rejects.toEqual(missing);
  const page = { beforeId: 9n, status: undefined, limit: 5 };
  await expect(webhooks.deliveries({ ...of("boris", webhook.id), ...page })).rejects.toEqual(missing);
  expect(await webhooks.get(of("anna", webhook.id))).toMatchObject({ ...ENDPOINT, isEnabled: true, lastError: "" });
});

test("a repeated command makes, rotates, replays and deletes once, and gets the same answer", async () => {
  const { webhooks, create } = await aWorld();
  const repeated = [aCommand(), aCommand(), aCommand(), aCommand()] as const;
  const twice = async <T>(work: () => Promise<T>): Promise<T> => {
    const first = await work();
    expect(await work()).toEqual(first);
    return first;
  };
  const { webhook, secret } = await twice(() => create("anna", repeated[0]));
  const { id } = webhook;
  const rotated = await twice(() => webhooks.rotate(of("anna", id), repeated[1]));
  expect(rotated.secret.reveal()).not.toBe(secret.reveal());
  expect(rotated.webhook.previousUntil?.getTime()).toBeGreaterThan(Date.now());
  await twice(() => webhooks.replay({ ...of("anna", id), after: 0n }, repeated[2]));
  await twice(() => webhooks.remove(of("anna", id), repeated[3]));
  await expect(webhooks.remove(of("anna", id), aCommand())).rejects.toMatchObject({ code: "webhook_not_found" });
  expect(await webhooks.list(of("anna"))).toEqual([]);
});

test("a client may have ten, also when it asks for more at the same time; one that is deleted makes room", async () => {
  const { webhooks, create } = await aWorld();
  const created = await Promise.allSettled(Array.from({ length: MAX_WEBHOOKS + 3 }, () => create("anna")));
  expect(created.filter(({ status }) => status === "fulfilled")).toHaveLength(MAX_WEBHOOKS);
  await expect(create("anna")).rejects.toMatchObject({ code: "too_many_webhooks" });
  await create("boris");
  await webhooks.remove(of("anna", (await webhooks.list(of("anna")))[0]!.id), aCommand());
  await create("anna");
});

test("secrets are encrypted for their client, with the newest key after a start, and not readable without a key", async () => {
  const { pool, webhooks, create } = await aWorld();
  const { webhook, secret } = await create("anna");
  expect(webhook.secret).not.toContain(secret.reveal());
  expect(() => createSecretCipher([OLD]).decrypt(webhook.secret, "boris")).toThrow();
  expect(() => createSecretCipher([NEW]).decrypt(webhook.secret, "anna")).toThrow("No webhook key has the id");

  await webhooks.rotate(of("anna", webhook.id), aCommand());
  await encryptAgain(pool, createSecretCipher([NEW, OLD]));
  const [stored] = await webhooks.list(of("anna"));
  expect(createSecretCipher([NEW]).decrypt(stored!.secret, "anna").reveal()).toMatch(/^whsec_/);

  // One whose key was removed too early is left as it is, and counted.
  await create("boris");
  await encryptAgain(pool, createSecretCipher([NEW]));
  expect(await metricValues("pamm_webhook_secrets")).toEqual({ current: 2, older: 0, unknown: 1 });

  const without = openWebhooks(pool, undefined);
  await expect(without.create({ clientId: "anna", ...ENDPOINT }, aCommand())).rejects.toMatchObject({
    code: "webhooks_not_set_up",
  });
  expect(await without.list(of("anna"))).toHaveLength(1);
});

test("a webhook is served while a key of its client permits it, also when the key that has made it is gone", async () => {
  const { pool, create } = await aWorld();
  await create("KeyOfTests01");
  expect(await hasWebhooks(pool)).toBe(false);
  const insert = (id: string, replaces: string | null) =>
    execute(
      pool,
      sql`insert into api_key (id, environment, name, pepper_id, hash, scopes, allowed_addresses, replaces, client_id, created_at)
          values (${id}, 'test', 'crm', 'p', ${Buffer.alloc(32)}, '{webhooks}', '{}', ${replaces}, 'KeyOfTests01', clock_timestamp())`,
    );
  await insert("KeyOfTests01", null);
  await insert("KeyOfTests02", "KeyOfTests01");
  expect(await hasWebhooks(pool)).toBe(true);
  await execute(pool, sql`update api_key set revoked_at = clock_timestamp() where id = 'KeyOfTests01'`);
  expect(await hasWebhooks(pool)).toBe(true);
  await execute(pool, sql`update api_key set revoked_at = clock_timestamp()`);
  expect(await hasWebhooks(pool)).toBe(false);
});

test("events after an id that no event has had cannot be sent again: those until then would never be sent", async () => {
  const { pool, webhooks, create } = await aWorld();
  const { webhook } = await create("anna");
  // As after a restore: the next events have higher ids, and a reader may have read up to one of them.
  await execute(pool, sql`select setval('event_id_seq', 1000)`);
  const replay = (after: bigint) => webhooks.replay({ ...of("anna", webhook.id), after }, aCommand());

  await expect(replay(1_001n)).rejects.toMatchObject({ code: "invalid_cursor", errors: [{ field: "after" }] });
  expect((await webhooks.get(of("anna", webhook.id))).throughEvent).toBe(webhook.throughEvent);
  expect((await replay(1_000n)).throughEvent).toBe(1_000n);
});

test("events that were removed cannot be sent again, and after 0 are all that are kept", async () => {
  const { pool, webhooks, create } = await aWorld();
  const { webhook } = await create("anna");
  await execute(pool, sql`update event_removal set removed_through = 900`);
  await expect(webhooks.replay({ ...of("anna", webhook.id), after: 899n }, aCommand())).rejects.toMatchObject({
    code: "events_removed",
  });
  for (const after of [900n, 0n]) {
    expect((await webhooks.replay({ ...of("anna", webhook.id), after }, aCommand())).throughEvent).toBe(after);
  }
});
