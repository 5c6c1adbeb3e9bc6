/** The Investors and Masters of a large system, in steps of growing size. All of it follows from these numbers. */

/** The first and the last of consecutive Investors. */
export type Range = { readonly first: number; readonly last: number };

export type LargePool = Range & {
  readonly master: number;
  readonly size: "small" | "medium" | "large";
};

export type Step = Range & {
  /** 1, 2, 3 ...; part of the names of its platform groups. */
  readonly number: number;
  /** Investors in no pool, if there are any. */
  readonly outside: Range;
  readonly pools: readonly LargePool[];
};

export type Sizes = {
  /** Investors of a pool. */
  readonly pool: Readonly<Record<LargePool["size"], number>>;
  readonly steps: readonly {
    readonly investors: number;
    readonly pools: Readonly<Record<LargePool["size"], number>>;
  }[];
};

/** 1,000 Masters with 100 Investors each for backlogs and exits, one with 100,000, and 70 with 10,000. */
export const FULL: Sizes = {
  pool: { small: 100, medium: 10_000, large: 100_000 },
  steps: [
    { investors: 1_000, pools: { small: 5, medium: 0, large: 0 } },
    { investors: 10_000, pools: { small: 45, medium: 0, large: 0 } },
    { investors: 100_000, pools: { small: 450, medium: 0, large: 0 } },
    { investors: 1_000_000, pools: { small: 500, medium: 70, large: 1 } },
  ],
};
/** Shows that everything works. */
export const QUICK: Sizes = {
  pool: { small: 10, medium: 1_000, large: 4_000 },
  steps: [
    { investors: 200, pools: { small: 5, medium: 0, large: 0 } },
    { investors: 1_000, pools: { small: 20, medium: 0, large: 0 } },
    { investors: 4_000, pools: { small: 75, medium: 0, large: 0 } },
    { investors: 20_000, pools: { small: 100, medium: 8, large: 1 } },
  ],
};

/** `investors` of a size is the number of all Investors after the step. Throws when its pools have more. */
export function stepsOf({ pool, steps }: Sizes): Step[] {
  let investor = 0;
  let master = 0;
  return steps.map(({ investors, pools: counts }, index) => {
    const first = investor + 1;
    const pools = (["small", "medium", "large"] as const).flatMap((size) =>
      Array.from({ length: counts[size] }, (): LargePool => {
        master += 1;
        const own = { master, size, first: investor + 1, last: investor + pool[size] };
        investor = own.last;
        return own;
      }),
    );
    if (investor > investors) throw new RangeError(`the pools of ${investors} Investors have ${investor}`);
    const outside = { first: investor + 1, last: investors };
    investor = investors;
    return { number: index + 1, first, last: investors, outside, pools };
  });
}

/** Investors in no pool, whom one workload has for itself. */
const RESERVED = 200;

/** The last ones outside, for the exit storm; their accounts have the deals of no other workload. */
export function reservedOf(steps: readonly Step[]): Range {
  const { first, last } = steps.at(-1)?.outside ?? { first: 1, last: 0 };
  return { first: Math.max(first, last - RESERVED + 1), last };
}

/** Those in no pool that are not reserved. */
export function unreservedOf(steps: readonly Step[], loaded: readonly Step[]): Range[] {
  const { first: firstReserved } = reservedOf(steps);
  return loaded.map(({ outside: { first, last } }) => ({ first, last: Math.min(last, firstReserved - 1) }));
}

/** Far above the logins that the service assigns itself. */
const FIRST_LOGIN = { investor: 50_000_000, master: 60_000_000, payment: 70_000_000 } as const;
export type LargeRole = keyof typeof FIRST_LOGIN;

export function loginOf(role: LargeRole, number: number): string {
  return String(FIRST_LOGIN[role] + number);
}

/** The same as an expression of SQL over a column or a number. */
export function loginSql(role: LargeRole, number: string): string {
  return `(${FIRST_LOGIN[role]} + ${number})::text`;
}

/** Each step has groups of its own: the service reads a group as a whole when most of its accounts are managed. */
export function groupOf(role: LargeRole, step: number): string {
  return `bench\\${role}-${step}`;
}

/** Cents of the account of every Investor before any result. */
export const CAPITAL_MINOR = 1_000_000;
/** Cents of the one result that each pool has allocated: 58 of 100 Investors have a profit, as in a good week. */
export const PROFIT_MINOR = 5_000;
export const LOSS_MINOR = -2_000;
const PROFITABLE_PERCENT = 58;

export function resultOf(investor: number): number {
  return investor % 100 < PROFITABLE_PERCENT ? PROFIT_MINOR : LOSS_MINOR;
}

/** The same as an expression of SQL. */
export const RESULT_SQL = `case when n % 100 < ${PROFITABLE_PERCENT} then ${PROFIT_MINOR} else ${LOSS_MINOR} end`;
