import { hash } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { type Refusal, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { Secret } from "#kernel/secret.ts";
import { refuse } from "../../problems/refusals.ts";
import { createBuckets } from "../../http/rate-limit.ts";
import { type Environment, findKey, listKeysInForce, markBootstrapUsed, markUsed } from "../store/api-keys.ts";
import { limitedNetwork } from "./addresses.ts";
import { readKeyId } from "./api-key.ts";
import { type Authenticate, BOOTSTRAP_ID } from "./auth.ts";
import { bootstrapOf, type CachedKey, cachedKeyOf, problemOf, reasonOf, type VerifiedKey } from "./cached-key.ts";
import { countFailure } from "./failures.ts";
import { compareSecrets, type Peppers, renewHashes } from "./key-hashes.ts";

/** Subject of the signal that keys changed. A lost message costs the time until the next periodic read. */
export const KEYS_CHANGED = "edge.v1.keys.changed";

export type KeyRingOptions = Peppers & {
  readonly pool: Pool;
  /** Of this system: a key of the other one is refused. */
  readonly environment: Environment;
  /** A key with every scope that is in no database. */
  readonly bootstrapKey: Secret<string> | undefined;
  readonly now: Clock;
};

export type KeyRing = {
  readonly authenticate: Authenticate;
  /** Reads all keys again and records when each was used last. */
  readonly refresh: () => Promise<void>;
};

/** Keys that were read longer ago may be revoked, so they are not accepted. Longer than a restart of the database. */
const STALE_AFTER_MS = 60_000;
/** Failures of one address or IPv6 network. Each costs a query; valid keys of the address are not slowed down. */
const FAILURES = { perSecond: 5, burst: 100 };

/** The keys in memory, so that a request costs no query, and a key that was presented before one plain hash. */
export function createKeyRing({ pool, now, ...options }: KeyRingOptions): KeyRing {
  const secrets = compareSecrets(options);
  const limitFailures = failureLimit(now);
  const uses = new Map<string, Date>();
  const renewal = renewHashes(pool, options);
  const bootstrap = bootstrapOf(options.environment);
  let cached = new Map<string, CachedKey>();
  /** By the digest of the presented key. Empty after each refresh, so that what was true of an earlier state is forgotten. */
  let verified = new Map<string, VerifiedKey>();
  let refreshedAt = now().getTime();
  let refreshed: Promise<void> = Promise.resolve();

  /** One refresh after the other, so that an earlier one cannot restore a key that a later one has removed. */
  const refresh = (): Promise<void> => (refreshed = refreshed.then(readKeys, readKeys));

  async function readKeys(): Promise<void> {
    const at = now();
    const keys = await listKeysInForce(pool, at);
    cached = new Map(keys.map((key) => [key.id, cachedKeyOf(key)]));
    verified = new Map();
    refreshedAt = at.getTime();
    await saveUses(pool, uses);
    await renewal.save(keys);
  }

  /**
   * An unknown id may belong to a key that was created a moment ago. A known id with a wrong secret makes the same query, so that
   * the time of the answer does not disclose which ids exist.
   */
  async function lookAgain(presentedKey: string, id: string, address: string): Promise<CachedKey | undefined> {
    limitFailures(address);
    const stored = await findKey(pool, id).catch(() => Promise.reject(cannotCheck()));
    if (stored !== undefined && !cached.has(id)) await refresh();
    const key = secrets.ifMatching(presentedKey, cached.get(id));
    if (key === undefined) countFailure(reasonOf(stored, now()));
    return key;
  }

  function requireFreshKeys(): void {
    if (now().getTime() - refreshedAt > STALE_AFTER_MS) throw cannotCheck();
  }

  async function verify(presentedKey: string, address: string): Promise<VerifiedKey | undefined> {
    if (secrets.isBootstrap(presentedKey)) return bootstrap;
    const id = readKeyId(presentedKey);
    if (id === undefined) return countFailure("malformed_key");
    requireFreshKeys();
    return secrets.ifMatching(presentedKey, cached.get(id)) ?? (await lookAgain(presentedKey, id, address));
  }

  async function findVerified(presentedKey: string, address: string): Promise<VerifiedKey | undefined> {
    const digest = hash("sha256", presentedKey, "base64");
    const known = verified.get(digest);
    if (known !== undefined) return known;
    const keys = cached;
    const key = await verify(presentedKey, address);
    if (key !== undefined) renewal.note(presentedKey, cached.get(key.caller.keyId));
    // A key that was read before a refresh may be revoked since.
    if (key !== undefined && keys === cached) verified.set(digest, key);
    return key;
  }

  return {
    refresh,
    async authenticate(presentedKey, address) {
      const key = await findVerified(presentedKey, address);
      if (key === bootstrap) {
        uses.set(BOOTSTRAP_ID, now());
        return key.caller;
      }
      if (key !== undefined) requireFreshKeys();
      const problem = key && problemOf(key, { environment: options.environment, at: now(), address });
      if (problem !== undefined) countFailure(problem);
      if (key === undefined || problem !== undefined) {
        limitFailures(address);
        return undefined;
      }
      uses.set(key.caller.keyId, now());
      return key.caller;
    },
  };
}

/** Throws when the address has failed too often. */
function failureLimit(now: Clock): (address: string) => void {
  const failures = createBuckets(FAILURES, now);
  return (address) => {
    const wait = failures.take(limitedNetwork(address));
    if (wait === undefined) return;
    countFailure("too_many");
    throw refuse("rate_limited", "Too many attempts without a valid API key from this address.", wait);
  };
}

/** Uses that are noted meanwhile are saved by the next call. */
async function saveUses(pool: Pool, uses: Map<string, Date>): Promise<void> {
  const used = new Map(uses);
  uses.clear();
  const bootstrapUse = used.get(BOOTSTRAP_ID);
  if (bootstrapUse !== undefined) await markBootstrapUsed(pool, bootstrapUse);
  if (used.size > 0) await markUsed(pool, used);
}

function cannotCheck(): Refusal {
  const message = "API keys cannot be verified: the database of the edge does not answer.";
  return refuse("service_unavailable", message, { retryAfterMs: RETRY_AFTER_MS });
}
