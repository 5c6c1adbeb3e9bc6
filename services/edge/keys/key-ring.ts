import { timingSafeEqual } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Refusal } from "#kernel/refusal.ts";
import type { Secret } from "#kernel/secret.ts";
import type { Authenticate, Caller } from "./auth.ts";
import { createBuckets } from "../rate-limit.ts";
import { refuse } from "../problems/refusals.ts";
import { SCOPES } from "./scopes.ts";
import { findKey, listKeysInForce, markUsed, type StoredKey } from "../store/api-keys.ts";
import { allows } from "./addresses.ts";
import { readKeyId } from "./api-key.ts";
import type { Pepper } from "./pepper.ts";

/** Subject of the signal that keys changed. A lost message costs the time until the next periodic read. */
export const KEYS_CHANGED = "edge.v1.keys.changed";

export type KeyRingOptions = {
  readonly pool: Pool;
  readonly pepper: Pepper;
  /** Keys that were created with the previous pepper stay valid. */
  readonly oldPepper: Pepper | undefined;
  /** A key with every scope that is in no database. */
  readonly bootstrapKey: Secret<string> | undefined;
  readonly now: Clock;
};

export type KeyRing = {
  readonly authenticate: Authenticate;
  /** Reads all keys again and records when each was used last. */
  readonly refresh: () => Promise<void>;
};

type CachedKey = StoredKey & { readonly caller: Caller; readonly allowsAddress: (address: string) => boolean };

/** Keys that were read longer ago may be revoked, so they are not accepted. Longer than a restart of the database. */
const STALE_AFTER_MS = 60_000;
/** Failures of one address. Each unknown id costs a query; valid keys of the address are not slowed down. */
const FAILURES = { perSecond: 5, burst: 100 };
const BOOTSTRAP_ID = "bootstrap";
const NO_HASH = Buffer.alloc(32);

/** The keys in memory, so that a request costs a hash and no query. */
export function createKeyRing({ pool, pepper, oldPepper, bootstrapKey, now }: KeyRingOptions): KeyRing {
  const bootstrapHash = bootstrapKey === undefined ? NO_HASH : pepper.hash(bootstrapKey.reveal());
  const failures = createBuckets(FAILURES, now);
  const uses = new Map<string, Date>();
  let cached = new Map<string, CachedKey>();
  let refreshedAt = now().getTime();
  let refreshed: Promise<void> = Promise.resolve();

  /** One refresh after the other, so that an earlier one cannot restore a key that a later one has removed. */
  function refresh(): Promise<void> {
    refreshed = refreshed.then(readKeys, readKeys);
    return refreshed;
  }

  async function readKeys(): Promise<void> {
    const at = now();
    const keys = await listKeysInForce(pool, at);
    cached = new Map(keys.map((key) => [key.id, cachedKeyOf(key)]));
    refreshedAt = at.getTime();
    const used = new Map(uses);
    uses.clear();
    if (used.size > 0) await markUsed(pool, used);
  }

  /** An unknown id may belong to a key that was created a moment ago. */
  async function find(id: string, address: string): Promise<CachedKey | undefined> {
    if (now().getTime() - refreshedAt > STALE_AFTER_MS) throw cannotCheck();
    if (cached.has(id)) return cached.get(id);
    countFailure(address);
    const isInDatabase = await findKey(pool, id).catch(() => Promise.reject(cannotCheck()));
    if (isInDatabase !== undefined) await refresh();
    return cached.get(id);
  }

  function pepperFor(key: CachedKey | undefined): Pepper {
    return oldPepper !== undefined && key?.pepperId === oldPepper.id ? oldPepper : pepper;
  }

  function countFailure(address: string): void {
    const wait = failures.take(address);
    if (wait !== undefined) {
      throw refuse("rate_limited", "Too many attempts without a valid API key from this address.", wait);
    }
  }

  return {
    refresh,
    async authenticate(presentedKey, address) {
      const isBootstrap = timingSafeEqual(pepper.hash(presentedKey), bootstrapHash) && bootstrapKey !== undefined;
      if (isBootstrap) return BOOTSTRAP;
      const id = readKeyId(presentedKey);
      const key = id === undefined ? undefined : await find(id, address);
      // An unknown id costs the same hash and the same comparison as a wrong secret.
      const presentedHash = pepperFor(key).hash(presentedKey);
      const isRight = timingSafeEqual(presentedHash, key?.hash ?? NO_HASH);
      if (key !== undefined && isRight && isInForce(key, now()) && key.allowsAddress(address)) {
        uses.set(key.id, now());
        return key.caller;
      }
      countFailure(address);
      return undefined;
    },
  };
}

const BOOTSTRAP: Caller = {
  keyId: BOOTSTRAP_ID,
  client: BOOTSTRAP_ID,
  scopes: new Set(SCOPES),
  rejectsDuplicates: false,
};

function cannotCheck(): Refusal {
  return refuse("service_unavailable", "API keys cannot be verified now. Retry shortly.");
}

function cachedKeyOf(key: StoredKey): CachedKey {
  const { id, name, scopes, allowedAddresses, duplicateComment } = key;
  const rejectsDuplicates = duplicateComment === "reject";
  const caller = { keyId: id, client: name, scopes: new Set(scopes), rejectsDuplicates };
  return { ...key, caller, allowsAddress: allows(allowedAddresses) };
}

function isInForce({ revokedAt, expiresAt }: StoredKey, at: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > at.getTime());
}
