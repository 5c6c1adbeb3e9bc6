import { refuse } from "../problems/refusals.ts";
import type { Audit, AuditEntry } from "./audit.ts";

/** Refuses when the entry cannot be written; `consequence` says what was not done. */
export async function writeDurably(audit: Audit, entry: AuditEntry, consequence: string): Promise<void> {
  await audit.write(entry).catch((cause: unknown) => {
    throw Object.assign(refuse("service_unavailable", `The access could not be audited. ${consequence}`), { cause });
  });
}
