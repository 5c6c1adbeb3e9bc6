import type { Irregularity } from "../../domain/log-entry.ts";
import type { LoggedDeal } from "../../domain/logged-deal.ts";
import type { Deal } from "../../mt5/deals.ts";

/** Something that happened to the past of a login. */
export type Irregular = {
  /** The login in whose log it is told. */
  readonly login: string;
  readonly ticket: bigint;
  readonly irregularity: Irregularity;
  /** Time of the deal, as far as it is known. */
  readonly at: Date;
  readonly told: LoggedDeal | undefined;
  readonly shown: Deal | undefined;
  /** Names of what differs. */
  readonly differences: readonly string[];
};

/** One of which nobody was told yet: about the deal as it was corrected so often. */
export type FreshIrregular = Irregular & { readonly state: number };
