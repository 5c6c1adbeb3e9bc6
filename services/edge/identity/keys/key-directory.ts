import { pageOf } from "#kernel/values/page.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { invalid } from "../../problems/problem.ts";
import { findKey, findKeySystem, listKeysByAge } from "../store/api-keys.ts";

export type KeyDirectory = ReturnType<typeof keyDirectory>;

const UNKNOWN_KEY = { field: "cursor", code: "invalid_cursor", message: "cursor must be the id of a key." };

/** The keys as operators see them; they are changed by a command only. */
export function keyDirectory(pool: Pool) {
  return {
    /** `system` is undefined before the first start of an edge. */
    list: async ({ afterId, limit }: { readonly afterId: string | undefined; readonly limit: number }) => {
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
