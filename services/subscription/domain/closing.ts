/** What has to end before a Master is archived. */
export type LeftInPool = {
  /** Investors in the pool, and assignments that are not decided yet. */
  readonly investors: bigint;
  /** Investors who have left the pool; their capital has not left the Master yet. */
  readonly exits: bigint;
};

/** An Investor leaves in two steps: out of the pool, then the capital off the Master. Falls with each. */
export function stepsLeft({ investors, exits }: LeftInPool): bigint {
  return 2n * investors + exits;
}

export type Block =
  | "master_open_positions"
  | "safety_stop"
  | "investor_deficit"
  | "own_capital"
  | "payment_account_archived"
  | "unavailable";

const BLOCKS: ReadonlyMap<string, Block> = new Map<string, Block>([
  ["master_open_positions", "master_open_positions"],
  ["safety_stop", "safety_stop"],
  ["investor_deficit", "investor_deficit"],
  ["own_capital", "own_capital"],
  ["payment_account_archived", "payment_account_archived"],
  ["platform_unavailable", "unavailable"],
  ["service_unavailable", "unavailable"],
  ["no answer", "unavailable"],
]);

/** What keeps a closing from going on; undefined when it is only in progress. */
export function blockOf(reason: string | null): Block | undefined {
  return BLOCKS.get(reason ?? "");
}

/** Codes of refusals that hold for every Investor of the Master at that moment. */
const OF_MASTER = new Set([
  "master_open_positions",
  "safety_stop",
  "allocation_in_progress",
  "platform_unavailable",
  "service_unavailable",
]);

/** Why no further Investor of the Master can leave now, by the reasons why some have not; undefined when others may. */
export function reasonForAll(reasons: readonly (string | undefined)[]): string | undefined {
  return reasons.find((reason) => reason !== undefined && OF_MASTER.has(reason));
}
