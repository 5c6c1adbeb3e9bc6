import type { FastifyRequest } from "fastify";
import { refuse } from "../../problems/refusals.ts";
import { countFailure } from "./failures.ts";
import type { Scope } from "./scopes.ts";
import type { Environment } from "../store/api-keys.ts";

/** The caller, as its API key identifies it. */
export type Caller = {
  readonly keyId: string;
  /** The first key of the chain of rotations: a rotated key belongs to the same client. */
  readonly clientId: string;
  /** Name of the key's owner, a person or a system. */
  readonly client: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly environment: Environment;
  /** Null for a key that does not expire. */
  readonly expiresAt: Date | null;
  /** It is accepted from some addresses only. */
  readonly isLimitedToAddresses: boolean;
  /** Deposits and withdrawals that equal one of the last 24 hours are refused. */
  readonly rejectsDuplicates: boolean;
};

/** Undefined for any key that is not valid now, from this address; the reason is not disclosed. */
export type Authenticate = (presentedKey: string, address: string) => Promise<Caller | undefined>;

const BEARER = /^Bearer +([\x21-\x7e]{1,256}) *$/i;

/** Client and owner of the bootstrap key. */
export const BOOTSTRAP_ID = "bootstrap";

export async function authenticateRequest(authenticate: Authenticate, request: FastifyRequest): Promise<Caller> {
  const [, presentedKey] = BEARER.exec(request.headers.authorization ?? "") ?? [];
  if (presentedKey === undefined) countFailure("no_key");
  const caller = presentedKey === undefined ? undefined : await authenticate(presentedKey, request.ip);
  if (caller === undefined) {
    throw refuse("unauthorized", "A valid API key is required as a bearer token in the Authorization header.");
  }
  return caller;
}

/** One of the scopes is enough; the first is named in the refusal. */
export function demandScope({ scopes }: Pick<Caller, "scopes">, required: readonly Scope[]): void {
  const [first] = required;
  if (first === undefined || required.some((one) => scopes.has(one))) return;
  countFailure("scope");
  throw refuse("insufficient_scope", `The API key lacks the scope ${required.join(" or ")}.`, {
    details: { required_scope: first },
  });
}
