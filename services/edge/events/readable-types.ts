import type { Scope } from "../wire/scopes.ts";
import { refuse } from "../problems/refusals.ts";
import { ALL_TYPES, EVENT_TYPES } from "../fields/event-types.ts";

type Kind = keyof typeof EVENT_TYPES extends `${infer Name}.${string}` ? Name : never;

/** The scope of the route that shows the subject of an event. */
const SCOPE_OF_KIND: Readonly<Record<Kind, Scope>> = {
  deposit: "investors:read",
  withdrawal: "investors:read",
  unassign: "investors:read",
  subscription: "subscriptions:read",
  mirror: "subscriptions:read",
  exit: "subscriptions:read",
  fee: "fees:read",
  account: "ops",
  break: "ops",
  review: "ops",
};

/** Those that permit to read events, each of some types. */
const READING_SCOPES: readonly Scope[] = [...new Set(Object.values(SCOPE_OF_KIND))];

/** Of a type, or of all of a kind as `deposit.*`. One that only a newer release knows is for keys that may read all. */
export function mayRead(type: string, scopes: readonly string[]): boolean {
  const needed = neededFor(type);
  return needed === undefined ? READING_SCOPES.every((scope) => scopes.includes(scope)) : scopes.includes(needed);
}

function neededFor(type: string): Scope | undefined {
  const [kind = ""] = type.split(".");
  return Object.hasOwn(SCOPE_OF_KIND, kind) ? SCOPE_OF_KIND[kind as Kind] : undefined;
}

/** Those of the types, or of all, that the scopes permit; undefined when they permit all. */
export function permittedTypes(
  types: readonly string[] | undefined,
  scopes: readonly string[],
): readonly string[] | undefined {
  if (types === undefined && READING_SCOPES.every((scope) => scopes.includes(scope))) return undefined;
  return (types ?? Object.keys(EVENT_TYPES)).filter((type) => mayRead(type, scopes));
}

/** What a filter names has to be permitted; `*` stands for what is, so there has to be some. */
export function demandReadable(filter: string, scopes: readonly string[]): void {
  const refused = filter.split(",").filter((part) => {
    return part === ALL_TYPES ? !READING_SCOPES.some((scope) => scopes.includes(scope)) : !mayRead(part, scopes);
  });
  if (refused.length === 0) return;
  const missing = [...new Set(refused.flatMap((part) => neededFor(part) ?? READING_SCOPES))];
  const which = missing.join(refused.join() === ALL_TYPES ? " or " : " and ");
  throw refuse(
    "insufficient_scope",
    `The API key may not read events of the type ${refused.join(", ")}: it lacks the scope ${which}.`,
    { details: { required_scope: missing[0] ?? "" } },
  );
}
