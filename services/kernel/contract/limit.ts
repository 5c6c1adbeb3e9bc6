/** Limits work in progress. A full limit refuses at once, because a request in a queue may only be reached after its deadline. */
export type Limit = { readonly tryEnter: () => boolean; readonly leave: () => void };

/**
 * Of each transport. Calls that wait gather in sets and hold no database connection meanwhile; more of the slowest command
 * than this would wait past its deadline.
 */
export const MAX_CONCURRENT_CALLS = 1_024;

export function limit(max: number): Limit {
  let inside = 0;
  return {
    tryEnter() {
      if (inside >= max) return false;
      inside += 1;
      return true;
    },
    leave() {
      inside -= 1;
    },
  };
}
