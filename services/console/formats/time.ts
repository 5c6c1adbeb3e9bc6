const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Times of the API are UTC without offset. */
export function instantOf(at: string): Date {
  return new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(at) ? at : `${at}Z`);
}

/** As it is shown: UTC, to the second. */
export function utcText(at: string): string {
  return at.slice(0, 19).replace("T", " ");
}

export function localText(at: string): string {
  return instantOf(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}

/** In two units at most: `3 d 4 h`, `12 min`, `8 s`. */
export function durationText(ms: number): string {
  const rounded = Math.max(0, ms);
  if (rounded < MINUTE_MS) return `${Math.floor(rounded / SECOND_MS)} s`;
  if (rounded < HOUR_MS) return `${Math.floor(rounded / MINUTE_MS)} min`;
  if (rounded < DAY_MS) return `${Math.floor(rounded / HOUR_MS)} h ${Math.floor((rounded % HOUR_MS) / MINUTE_MS)} min`;
  return `${Math.floor(rounded / DAY_MS)} d ${Math.floor((rounded % DAY_MS) / HOUR_MS)} h`;
}
