import type { Pool } from "#kernel/postgres/pool.ts";
import { listSecrets, saveSecrets } from "../store/webhooks.ts";
import type { SecretCipher } from "./secret-cipher.ts";

const PAGE = 100;

/** Encrypts with the newest key what an older one has encrypted, so that the older one can be removed after a start of each replica. */
export async function encryptAgain(pool: Pool, cipher: SecretCipher): Promise<void> {
  for (let after = 0n; ;) {
    const rows = await listSecrets(pool, after, PAGE);
    for (const { id, clientId, ...stored } of rows) {
      const renew = (text: string): string =>
        cipher.isCurrent(text) ? text : cipher.encrypt(cipher.decrypt(text, clientId), clientId);
      const renewed = {
        secret: renew(stored.secret),
        previous: stored.previous === null ? null : renew(stored.previous),
      };
      if (renewed.secret !== stored.secret || renewed.previous !== stored.previous) {
        await saveSecrets(pool, id, stored, renewed);
      }
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.id;
  }
}
