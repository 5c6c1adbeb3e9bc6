import { Gauge } from "prom-client";
import type { Deps } from "../deps.ts";
import { countByKey, listOutdatedCredentials, replaceCredentials } from "../store/credentials.ts";

/** Decryption costs microseconds; a page keeps the transaction short. */
const PAGE = 500;

const passwords = new Gauge({
  name: "pamm_encrypted_passwords",
  help: "Platform passwords by the key that encrypted them: the current one, a known older one, or one that this process does not have.",
  labelNames: ["key"],
});

/**
 * Encrypts passwords under an older key again with the newest one. A row that was changed meanwhile is left to the next run, and one under
 * a key that this process does not have is counted only. True when more are left.
 */
export async function reencryptPasswords({
  pool,
  credentialCipher,
  log,
}: Pick<Deps, "pool" | "credentialCipher" | "log">): Promise<boolean> {
  const { currentKeyId, olderKeyIds } = credentialCipher;
  const outdated = await listOutdatedCredentials(pool, olderKeyIds, PAGE);
  const renewed = outdated.map((credential) => {
    const { owner, field, keyId: from } = credential;
    const encrypted = credentialCipher.encrypt(credentialCipher.decrypt(credential, credential), credential);
    return { from, owner, field, ...encrypted };
  });
  await replaceCredentials(pool, renewed);
  if (renewed.length > 0) log.info("passwords encrypted again with the current key", { count: renewed.length });
  const counts = { current: 0, older: 0, unknown: 0 };
  for (const { keyId, count } of await countByKey(pool)) {
    counts[keyId === currentKeyId ? "current" : olderKeyIds.includes(keyId) ? "older" : "unknown"] += count;
  }
  for (const [key, count] of Object.entries(counts)) passwords.set({ key }, count);
  return outdated.length === PAGE;
}
