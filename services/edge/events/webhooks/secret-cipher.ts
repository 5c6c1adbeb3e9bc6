import { Gauge } from "prom-client";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { type Job, runJob } from "#kernel/jobs/job.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Secret } from "#kernel/values/secret.ts";
import { createTextCipher, NONCE_BYTES } from "#kernel/values/text-cipher.ts";
import { countSecretsByKey, listSecrets, saveSecrets } from "../store/webhooks.ts";

/** The newest key, another one that this process has, or none of them. */
const KEY_AGES = ["current", "older", "unknown"] as const;

export type SecretCipher = ReturnType<typeof createSecretCipher>;

/** Encrypts the secrets of webhooks for the database. The first key encrypts, all of them decrypt. An encrypted text is the id of its key, a point, and nonce and ciphertext in Base64. */
export function createSecretCipher(masterKeys: readonly [Secret<Buffer>, ...Secret<Buffer>[]]) {
  const cipher = createTextCipher({ masterKeys, purpose: "edge webhook secrets", keyName: "webhook key" });
  return {
    /** Of the key that encrypted it. */
    ageOf(text: string): (typeof KEY_AGES)[number] {
      const [keyId = ""] = text.split(".");
      if (keyId === cipher.currentKeyId) return "current";
      return cipher.olderKeyIds.includes(keyId) ? "older" : "unknown";
    },
    encrypt(secret: Secret<string>, client: string): string {
      const { keyId, nonce, ciphertext } = cipher.encrypt(secret, ["webhook", client]);
      return `${keyId}.${Buffer.concat([nonce, ciphertext]).toString("base64")}`;
    },
    /** Throws when the text was changed, belongs to another client, or no key has its id. */
    decrypt(text: string, client: string): Secret<string> {
      const [keyId = "", sealed = ""] = text.split(".");
      const bytes = Buffer.from(sealed, "base64");
      const encrypted = { keyId, nonce: bytes.subarray(0, NONCE_BYTES), ciphertext: bytes.subarray(NONCE_BYTES) };
      return cipher.decrypt(encrypted, ["webhook", client]);
    },
  };
}

const PAGE = 100;

const secrets = new Gauge({
  name: "pamm_webhook_secrets",
  help: "Secrets of webhooks by the key that encrypted them: the current one, the known older one, or one that this process does not have.",
  labelNames: ["key"],
});

/** At the start, and each hour, because a replica that does not have the newest key yet may store a secret meanwhile. */
export function encryptSecretsAgain(pool: Pool, cipher: SecretCipher, log: Log): Job {
  const work = (): Promise<boolean> => encryptAgain(pool, cipher).then(() => false);
  return runJob({ name: "re-encrypt webhook secrets", everyMs: HOUR_MS, work, log });
}

/**
 * Encrypts with the newest key what an older one has encrypted, so that the older one can be removed. A secret under a key that this process
 * does not have is counted only.
 */
export async function encryptAgain(pool: Pool, cipher: SecretCipher): Promise<void> {
  for (let after = 0n; ;) {
    const rows = await listSecrets(pool, after, PAGE);
    for (const { id, clientId, ...stored } of rows) {
      const renew = (text: string): string =>
        cipher.ageOf(text) === "older" ? cipher.encrypt(cipher.decrypt(text, clientId), clientId) : text;
      const renewed = {
        secret: renew(stored.secret),
        previous: stored.previous === null ? null : renew(stored.previous),
      };
      if (renewed.secret !== stored.secret || renewed.previous !== stored.previous) {
        await saveSecrets(pool, id, stored, renewed);
      }
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) break;
    after = last.id;
  }
  const counts = await countSecretsByKey(pool);
  for (const age of KEY_AGES) {
    const ofAge = counts.filter(({ keyId }) => cipher.ageOf(`${keyId}.`) === age);
    secrets.set(
      { key: age },
      ofAge.reduce((sum, { count }) => sum + count, 0),
    );
  }
}
