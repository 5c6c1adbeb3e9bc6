/**
 * A leg as it is recorded, or as the row behind its transfer says. Cents, signed; undefined when its service no longer has the amount, because it
 * has compared the log entry with it.
 */
export type ComparedLeg = { readonly login: string; readonly kind: string; readonly amountMinor: bigint | undefined };

/** What differs between a transfer and the row that it was requested for; undefined when nothing does. */
export function differenceOf(
  recorded: readonly ComparedLeg[],
  owned: readonly ComparedLeg[],
  { comparesAmounts }: { readonly comparesAmounts: boolean },
): string | undefined {
  if (owned.length === 0) return "its service has no row for its key";
  if (owned.length !== recorded.length) return "its service has recorded another number of legs";
  const pairs = recorded.map((leg, index) => [leg, owned[index]] as const);
  if (pairs.some(([leg, own]) => leg.login !== own?.login)) return "its service has recorded another account";
  if (pairs.some(([leg, own]) => leg.kind !== own?.kind)) return "its service has recorded another kind of movement";
  const isOther =
    comparesAmounts &&
    pairs.some(([leg, own]) => own?.amountMinor !== undefined && leg.amountMinor !== own.amountMinor);
  return isOther ? "its service has recorded another amount" : undefined;
}
