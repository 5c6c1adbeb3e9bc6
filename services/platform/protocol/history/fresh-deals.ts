import { createBell } from "#kernel/bell.ts";
import type { FreshDeals } from "../../deps.ts";

/** Forgetting a login costs nothing but time: the next round of the reader comes by. */
export function createFreshDeals(): FreshDeals {
  const logins = new Set<string>();
  const bell = createBell();
  return {
    bell,
    add(login) {
      logins.add(login);
      bell.ring();
    },
    take() {
      const taken = [...logins];
      logins.clear();
      return taken;
    },
  };
}
