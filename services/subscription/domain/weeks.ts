/** The fee period. Weeks are half-open: an instant at a cut-off belongs to the week that begins there. */
export type Week = {
  /** Any cut-off, in the past or the future. */
  readonly anchor: Date;
  readonly periodMs: number;
};

/** The cut-offs after `after` and up to `through`, oldest first, at most `limit`. */
export function cutOffsDue(week: Week, after: Date, through: Date, limit: number): Date[] {
  const first = indexAt(week, after) + 1;
  const last = Math.min(indexAt(week, through), first + limit - 1);
  const due: Date[] = [];
  for (let index = first; index <= last; index += 1) due.push(cutOffAt(week, index));
  return due;
}

/** The start of the week that contains an instant. */
export function lastCutOff(week: Week, at: Date): Date {
  return cutOffAt(week, indexAt(week, at));
}

/** The start of the week that ends at a cut-off. */
export function periodStart(week: Week, cutOff: Date): Date {
  return cutOffAt(week, Math.ceil(weeksSinceAnchor(week, cutOff)) - 1);
}

/** Whether both have the same cut-offs. */
export function areSameWeeks(left: Week, right: Week): boolean {
  return left.periodMs === right.periodMs && Number.isInteger(weeksSinceAnchor(left, right.anchor));
}

function indexAt(week: Week, at: Date): number {
  return Math.floor(weeksSinceAnchor(week, at));
}

function weeksSinceAnchor({ anchor, periodMs }: Week, at: Date): number {
  return (at.getTime() - anchor.getTime()) / periodMs;
}

function cutOffAt({ anchor, periodMs }: Week, index: number): Date {
  // oxlint-disable-next-line eslint/no-restricted-globals -- The arguments give the instant, not the clock.
  return new Date(anchor.getTime() + index * periodMs);
}
