/** The fee period. Weeks are half-open: an instant at a cut-off belongs to the week that begins there. */
export type Week = {
  /** Any cut-off, in the past or the future. */
  readonly anchor: Date;
  readonly periodMs: number;
};

/** The first cut-off after `after`, if it is not after `through`; undefined when one of the two is. */
export function nextCutOff(week: Week, after: Date | undefined, through: Date | undefined): Date | undefined {
  if (after === undefined || through === undefined) return undefined;
  const next = indexAt(week, after) + 1;
  return next <= indexAt(week, through) ? cutOffAt(week, next) : undefined;
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
