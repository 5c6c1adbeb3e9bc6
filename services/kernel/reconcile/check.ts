import { type CheckName, CHECKS } from "#catalogue/checks.ts";

/** A difference that one run found. */
export type Finding = {
  /** The subject within its check. Findings with the same key are the same break. */
  readonly key: string;
  /** The account with the difference; empty when there is none. */
  readonly login: string;
  /** The Master that has to be stopped because of it. */
  readonly masterLogin?: string;
  /** Cents, never negative. */
  readonly atRiskMinor: bigint;
  readonly operationIds?: readonly string[];
  /** Tickets. */
  readonly dealIds?: readonly bigint[];
  /** One sentence for operators. */
  readonly message: string;
  /** What was compared, in plain values; amounts as text. */
  readonly evidence: Readonly<Record<string, unknown>>;
};

/** A break that is open, or not confirmed by enough runs to be opened. */
export type PendingBreak = Pick<Finding, "key" | "login">;

export type CheckRun = {
  readonly findings: readonly Finding[];
  /** Whether this run would have found the break again if it still existed. Only then is it closed. */
  readonly covers: (pendingBreak: PendingBreak) => boolean;
  /** Where the next run continues; empty when each run reads everything. */
  readonly nextCursor: string;
  /** Whether this run has completed a pass through all rows. */
  readonly endsPass: boolean;
  /** Whether new rows are left that this run should have read: then it is not complete. */
  readonly leavesNewRows?: boolean;
};

export type RunRequest = {
  /** Where the previous run ended; empty before the first one. */
  readonly cursor: string;
  /** All breaks that are not closed. A check that reads only a part of the rows must read these. */
  readonly pendingBreaks: readonly PendingBreak[];
};

/** Compares values that have to be equal. It has its own SQL: a check that uses the checked code repeats its mistakes. */
export type Check = {
  readonly name: string;
  readonly title: string;
  readonly everyMs: number;
  readonly confirmations: 1 | 2;
  readonly run: (request: RunRequest) => Promise<CheckRun>;
};

/** What the catalogue says of a check; its service adds how it runs. */
export function described(name: CheckName): Omit<Check, "run"> {
  const { title, everyMs, confirmations } = CHECKS[name];
  return { name, title, everyMs, confirmations };
}

/** A check of which each run finds everything. */
export function findsAll(name: CheckName, find: () => Promise<readonly Finding[]>): Check {
  return {
    ...described(name),
    run: async () => ({ findings: await find(), covers: () => true, nextCursor: "", endsPass: true }),
  };
}

/** The numbers in the keys of this kind, for example of transfer:17. */
export function idsOf(pendingBreaks: readonly PendingBreak[], kind: string): bigint[] {
  return pendingBreaks
    .map(({ key }) => key.split(":"))
    .filter(([name, id]) => name === kind && /^\d+$/.test(id ?? ""))
    .map(([, id]) => BigInt(id ?? 0));
}

/** The size of a difference in minor units. */
export function abs(minor: bigint): bigint {
  return minor < 0n ? -minor : minor;
}

/** A run stores at most this many breaks, and its statements list no more: a run that finds as many is not complete. */
export const MAX_FINDINGS = 1_000;
