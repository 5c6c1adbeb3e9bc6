import { Gauge } from "prom-client";
import { HOUR_MS } from "#kernel/duration.ts";
import { type Job, runJob } from "#kernel/job.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { countSecretsByKey, listSecrets, saveSecrets } from "../store/webhook-secrets.ts";
import { KEY_AGES, type SecretCipher } from "./secret-cipher.ts";

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
