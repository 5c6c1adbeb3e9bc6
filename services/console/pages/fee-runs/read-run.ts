import type { Client, Models } from "../../../client/index.ts";

type Payment = Models["FeePayment"];

export type RunPayments = {
  readonly payments: readonly Payment[];
  /** Whether all payments of the Master that may belong to it were read. */
  readonly isWhole: boolean;
};

const LIMIT = 500;
const MAX_PAGES = 40;

/**
 * The payments of one run. Those of a Master are listed by id, newest first, and a run is older than its payments: below the first page
 * that has older payments only, whose runs were over before this one, none of it follows.
 */
export async function readRun(client: Client, master: string, run: bigint, signal: AbortSignal): Promise<RunPayments> {
  const payments: Payment[] = [];
  let cursor: bigint | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const query = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
    const page = await client.query("listFeePayments", { path: { master_login: master }, query }, { signal });
    payments.push(...page.items.filter(({ run_id: id }) => id === run));
    const isPast = payments.length > 0 && page.items.every(({ run_id: id }) => id < run);
    if (!page.has_more || isPast || page.next_cursor === null) return { payments, isWhole: true };
    cursor = page.next_cursor;
  }
  return { payments, isWhole: false };
}
