import { refuse } from "../../problems/refusals.ts";
import type { Audit, AuditEntry } from "./audit.ts";

/** Refuses when the entry cannot be written: what it is about is neither done nor answered then. */
export async function writeDurably(audit: Audit, entry: AuditEntry): Promise<void> {
  await audit.write(entry).catch((cause: unknown) => {
    const refusal = refuse("service_unavailable", "The access could not be audited. Nothing was done or returned.");
    throw Object.assign(refusal, { cause });
  });
}
