import { timingSafeEqual } from "node:crypto";
import { Gauge } from "prom-client";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Secret } from "#kernel/secret.ts";
import { type StoredKey, saveHashes } from "../store/api-keys.ts";
import type { CachedKey } from "./cached-key.ts";
import type { Pepper } from "./pepper.ts";

const apiKeys = new Gauge({
  name: "pamm_api_keys",
  help: "API keys in force, by the pepper of their hash: the current one, or another one that may not be removed yet.",
  labelNames: ["pepper"],
});

export type Peppers = {
  readonly pepper: Pepper;
  /** Keys that were created with the previous pepper stay valid. */
  readonly oldPepper: Pepper | undefined;
};

const NO_HASH = Buffer.alloc(32);

/** A key that is stored with the previous pepper can be stored with the current one once it was presented. */
export function renewHashes(pool: Pool, { pepper, oldPepper }: Peppers) {
  const renewed = new Map<string, Buffer>();
  return {
    note(presentedKey: string, key: CachedKey | undefined): void {
      if (key !== undefined && isStoredWith(oldPepper, key)) renewed.set(key.id, pepper.hash(presentedKey));
    },
    async save(keys: readonly StoredKey[]): Promise<void> {
      const others = keys.filter(({ pepperId }) => pepperId !== pepper.id).length;
      apiKeys.set({ pepper: "current" }, keys.length - others);
      apiKeys.set({ pepper: "other" }, others);
      const hashes = new Map(renewed);
      renewed.clear();
      if (hashes.size > 0) await saveHashes(pool, pepper.id, hashes);
    },
  };
}

function isStoredWith(pepper: Pepper | undefined, key: CachedKey | undefined): boolean {
  return pepper !== undefined && key?.pepperId === pepper.id;
}

export function compareSecrets({
  pepper,
  oldPepper,
  bootstrapKey,
}: Peppers & { readonly bootstrapKey: Secret<string> | undefined }) {
  const bootstrapHash = bootstrapKey === undefined ? NO_HASH : pepper.hash(bootstrapKey.reveal());
  return {
    isBootstrap: (presentedKey: string): boolean =>
      timingSafeEqual(pepper.hash(presentedKey), bootstrapHash) && bootstrapKey !== undefined,
    /** The key if its secret was presented. An unknown id costs the same hash and the same comparison as a wrong secret. */
    ifMatching(presentedKey: string, key: CachedKey | undefined): CachedKey | undefined {
      const itsPepper = oldPepper !== undefined && isStoredWith(oldPepper, key) ? oldPepper : pepper;
      return timingSafeEqual(itsPepper.hash(presentedKey), key?.hash ?? NO_HASH) ? key : undefined;
    },
  };
}
