import type { Contract } from "./contract.ts";

/** The services that call each other. */
export const SERVICE_NAMES = ["account", "edge", "fee", "funding", "platform", "subscription"] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** The callers of each method; all others are refused. Complete by its type: a method without an entry does not compile. */
export type Permissions<C extends Contract> = { readonly [Name in keyof C]: readonly ServiceName[] };

/** The broker does not say who sends a request. Only the edge has to send requests over it. */
export const BROKER_CALLER: ServiceName = "edge";
