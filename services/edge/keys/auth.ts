import type { FastifyRequest } from "fastify";
import { refuse } from "../problems/refusals.ts";
import type { Scope } from "./scopes.ts";

/** Who asks, as the key says. */
export type Caller = {
  readonly keyId: string;
  /** Name of the key's owner. */
  readonly client: string;
  readonly scopes: ReadonlySet<Scope>;
  /** It wants deposits and withdrawals refused that look like one executed lately. */
  readonly rejectsDuplicates: boolean;
};

/** Undefined for any key that is not valid now, from this address; why is nobody's business outside. */
export type Authenticate = (presentedKey: string, address: string) => Promise<Caller | undefined>;

const BEARER = /^Bearer +([\x21-\x7e]{1,256}) *$/i;

export async function authenticateRequest(authenticate: Authenticate, request: FastifyRequest): Promise<Caller> {
  const [, presentedKey] = BEARER.exec(request.headers.authorization ?? "") ?? [];
  const caller = presentedKey === undefined ? undefined : await authenticate(presentedKey, request.ip);
  if (caller === undefined) throw refuse("unauthorized", "Send a valid API key as a bearer token.");
  return caller;
}

/** One of the scopes is enough; the first is the one that a caller is told to ask for. */
export function demandScope({ scopes }: Caller, scope: Scope, orScopes: readonly Scope[] = []): void {
  if ([scope, ...orScopes].some((one) => scopes.has(one))) return;
  throw refuse("insufficient_scope", `The API key lacks the scope ${scope}.`, { details: { required_scope: scope } });
}
