import { isTransient } from "#kernel/postgres/failure.ts";

/**
 * The results of `work` for all items in one transaction. When that fails, it is repeated for the items of each Master, so that
 * a locked Master delays no other, and after a failure that is not the database's for each item. The error of an item is its result.
 */
export async function workTogether<Item extends { readonly masterLogin: string | undefined }, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
): Promise<(Result | Error)[]> {
  try {
    return [...(await work(items))];
  } catch (error) {
    const parts = partsOf(items, error);
    if (parts.length === 1) return items.map(() => asError(error));
    const results = new Map<Item, Result | Error>();
    for (const part of parts) {
      const own = await workTogether(part, work);
      for (const [index, item] of part.entries()) results.set(item, own[index] as Result | Error);
    }
    return items.map((item) => results.get(item) as Result | Error);
  }
}

function partsOf<Item extends { readonly masterLogin: string | undefined }>(
  items: readonly Item[],
  error: unknown,
): (readonly Item[])[] {
  const byMaster = [...Map.groupBy(items, ({ masterLogin }) => masterLogin).values()];
  if (byMaster.length > 1 || isTransient(error)) return byMaster;
  return items.map((item) => [item]);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error("work failed", { cause: error });
}
