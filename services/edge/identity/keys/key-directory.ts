import { pageOf } from "#kernel/page.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { invalid } from "../../problems/problem.ts";
import { findKey, findKeySystem, type KeySystem, type ListedKey, listKeysByAge } from "../store/api-keys.ts";

type KeyPage = {
  readonly keys: readonly ListedKey[];
  readonly hasMore: boolean;
  /** Undefined before the first start of an edge. */
  readonly system: KeySystem | undefined;
};

/** The keys as operators see them; they are changed by a command only. */
export type KeyDirectory = {
  readonly list: (page: { readonly afterId: string | undefined; readonly limit: number }) => Promise<KeyPage>;
};

const UNKNOWN_KEY = { field: "cursor", code: "invalid_cursor", message: "cursor must be the id of a key." };

export function keyDirectory(pool: Pool): KeyDirectory {
  return {
    async list({ afterId, limit }) {
      const [rows, system] = await Promise.all([
        listKeysByAge(pool, { afterId, limit: limit + 1 }),
        findKeySystem(pool),
      ]);
      // An empty page would be taken for the end of the list.
      const isUnknown = rows.length === 0 && afterId !== undefined && (await findKey(pool, afterId)) === undefined;
      if (isUnknown) throw invalid([UNKNOWN_KEY]);
      const { items: keys, hasMore } = pageOf(rows, limit);
      return { keys, hasMore, system };
    },
  };
}
