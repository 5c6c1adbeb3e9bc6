import { refused } from "../domain/retcode.ts";
import { numberOf, type Params } from "./params.ts";

/** The maximum of the platform. */
const MAX_PAGE = 100;
/** A batch is held in memory as one text; larger ones are refused rather than cut. */
const MAX_BATCH = 20_000;

export function pageOf<Item>(params: Params, items: readonly Item[]): readonly Item[] {
  const offset = numberOf(params, "offset") ?? 0;
  const total = numberOf(params, "total") ?? MAX_PAGE;
  if (total < 1 || total > MAX_PAGE) throw refused("invalidParameters");
  return items.slice(offset, offset + total);
}

export function batchOf<Item>(items: readonly Item[]): readonly Item[] {
  if (items.length > MAX_BATCH) throw refused("limitReached");
  return items;
}
