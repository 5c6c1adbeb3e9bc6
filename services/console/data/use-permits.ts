import type { Models } from "../../client/index.ts";
import { can } from "../session/session.ts";
import { type Read, useRead } from "./use-read.ts";

export type Permits = Models["Permits"];

const EVERY_MS = 15_000;

/** Whether money commands are sent. Without data when the key may not see it. */
export function usePermits(): Read<Permits> {
  return useRead((client, signal) => client.query("getPermits", {}, { signal }), {
    keys: [],
    topics: ["reviews", "breaks"],
    everyMs: EVERY_MS,
    isPermitted: can("ops"),
  });
}
