export type Effect =
  | { readonly kind: "drop_before" | "drop_after" | "delay" | "late_apply" | "hide_deal" | "cut_comment" }
  | { readonly kind: "retcode"; readonly retcode: number }
  | { readonly kind: "http"; readonly status: number };

export type Fault = {
  readonly id: number;
  /** A Web API path without /api/, or * for all. */
  readonly command: string;
  /** Only calls with this parameter count; undefined = all. */
  readonly parameter: string | undefined;
  readonly effect: Effect;
  readonly delayMs: number;
  /** Matching calls that still pass untouched. */
  readonly after: number;
  /** Calls that are hit after those. */
  readonly times: number;
};

/** What all faults together make of one call. */
export type Verdict = {
  readonly dropBefore: boolean;
  readonly dropAfter: boolean;
  /** Answered in place of being executed. */
  readonly instead: { readonly retcode: number } | { readonly status: number } | undefined;
  readonly delayMs: number;
  /** The connection closes, the command is executed after this time. */
  readonly lateMs: number | undefined;
  readonly hideMs: number | undefined;
  readonly cutsComment: boolean;
};

export const NO_FAULT: Verdict = {
  dropBefore: false,
  dropAfter: false,
  instead: undefined,
  delayMs: 0,
  lateMs: undefined,
  hideMs: undefined,
  cutsComment: false,
};

/**
 * One call of a command, with the names of its parameters: each matching fault counts for itself, and those that are due
 * act together.
 */
export function strike(
  faults: readonly Fault[],
  command: string,
  parameters: ReadonlySet<string>,
): { readonly faults: readonly Fault[]; readonly verdict: Verdict } {
  const isMatch = (fault: Fault): boolean =>
    (fault.command === "*" || fault.command === command) &&
    (fault.parameter === undefined || parameters.has(fault.parameter));
  const due = faults.filter((fault) => isMatch(fault) && fault.after === 0);
  return {
    faults: faults.map((fault) => (isMatch(fault) ? counted(fault) : fault)).filter(({ times }) => times > 0),
    verdict: due.reduce(withEffect, NO_FAULT),
  };
}

function counted(fault: Fault): Fault {
  return fault.after > 0 ? { ...fault, after: fault.after - 1 } : { ...fault, times: fault.times - 1 };
}

/** Of several answers the first fault's wins, of several times the longest. */
function withEffect(verdict: Verdict, { effect, delayMs }: Fault): Verdict {
  switch (effect.kind) {
    case "drop_before":
      return { ...verdict, dropBefore: true };
    case "drop_after":
      return { ...verdict, dropAfter: true };
    case "retcode":
      return { ...verdict, instead: verdict.instead ?? { retcode: effect.retcode } };
    case "http":
      return { ...verdict, instead: verdict.instead ?? { status: effect.status } };
    case "delay":
      return { ...verdict, delayMs: Math.max(verdict.delayMs, delayMs) };
    case "late_apply":
      return { ...verdict, lateMs: Math.max(verdict.lateMs ?? 0, delayMs) };
    case "hide_deal":
      return { ...verdict, hideMs: Math.max(verdict.hideMs ?? 0, delayMs) };
    case "cut_comment":
      return { ...verdict, cutsComment: true };
  }
}
