/** Limits work in progress. A full limit refuses at once, because a request in a queue may only be reached after its deadline. */
export type Limit = { readonly tryEnter: () => boolean; readonly leave: () => void };

/** More calls than database connections can work on would only wait, and pass their deadlines. Of each transport. */
export const MAX_CONCURRENT_CALLS = 64;

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
