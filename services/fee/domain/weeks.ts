import { decideDue, type Due, type DueFacts } from "./due.ts";
import type { Earnings } from "./layers.ts";

/** A closed week of a Master. */
export type Week = {
  readonly masterLogin: string;
  readonly periodStart: Date;
  /** Exclusive. */
  readonly cutOff: Date;
  /** When marks of open positions were taken; undefined when the Master was flat. */
  readonly markedAt: Date | undefined;
  /** Of its entry in the Master's allocations. */
  readonly number?: bigint | undefined;
};

/** An Investor who was in the pool at the cut-off. */
export type WeekPair = Pick<DueFacts, "earnings" | "versions" | "debts" | "floating" | "since"> & {
  readonly investorLogin: string;
};

export type DecidedPair = {
  readonly investorLogin: string;
  readonly earnings: Earnings;
  readonly due: readonly Due[];
};

/** Decides a closed week as of its cut-off, with the switch of that instant. */
export function decideWeek({ masterLogin, cutOff, markedAt, number }: Week, pairs: readonly WeekPair[]): DecidedPair[] {
  return pairs.map(({ investorLogin, ...pair }) => ({
    investorLogin,
    ...decideDue({ ...pair, masterLogin, markedAt, throughNumber: number, at: cutOff }),
  }));
}
