import { NO_RENEWAL } from "#kernel/postgres/lease.ts";
import type { ReaderRole } from "../reader/account-reader.ts";

/** That of the only reader, which needs no lease. */
export const onlyReader: ReaderRole = { mayContinue: async () => true, renewWithin: (make) => make(NO_RENEWAL) };
