import type { ServiceName } from "#catalogue/services.ts";
import type { Contract } from "./contract.ts";

/** The callers of each method; all others are refused. Complete by its type: a method without an entry does not compile. */
export type Permissions<C extends Contract> = { readonly [Name in keyof C]: readonly ServiceName[] };
