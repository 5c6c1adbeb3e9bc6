import type { Refusal } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";
import { LEG_KINDS, type LegKind } from "./leg-kind.ts";
import { foldText, readReference, textOfComment } from "./reference.ts";

/** For this many days after it was found, a lost movement makes an equal request a possible duplicate. */
export const LOST_MOVEMENT_DAYS = 30;

/** A deposit or withdrawal that the platform has executed and whose records the database has lost. */
export type LostMovement = {
  readonly login: string;
  readonly dealId: bigint;
  /** Cents, signed. */
  readonly amountMinor: bigint;
  /** The comment of the deal, as the platform keeps it. */
  readonly comment: string;
  /** Under which it is listed since it was imported. */
  readonly operationId?: string | undefined;
};

/** What is to be moved now; `amountMinor` is in cents, signed. */
export type RequestedMovement = Pick<LostMovement, "amountMinor" | "comment"> & { readonly kind: LegKind };

/**
 * Of the lost movements of its account the one that a deposit or withdrawal repeats: of the same amount, with the comment that it would give to its own
 * deal, as far as it was kept.
 */
export function executedBefore(
  { kind, amountMinor, comment }: RequestedMovement,
  lost: readonly LostMovement[] = [],
): LostMovement | undefined {
  if (LEG_KINDS[kind].origin !== "external") return undefined;
  const requested = foldText(comment);
  return lost.find(
    (each) =>
      each.amountMinor === amountMinor &&
      readReference(each.comment) !== undefined &&
      isAsKept(textOfComment(each.comment), requested),
  );
}

/** The platform may keep less of a text, down to nothing, and may add to its end. */
function isAsKept(kept: string, requested: string): boolean {
  return kept.startsWith(requested) || requested.startsWith(kept);
}

/** The caller may not know that the lost movement was executed: its answer, and its idempotency key, may be lost too. */
export function repeatsLost({ dealId, operationId }: LostMovement): Refusal {
  return refuse(
    "possible_duplicate",
    `An equal operation was executed (deal ${dealId}) before the database was restored to an older time. Nothing was executed now.`,
    { outcome: "not_executed", operationId, details: { deal_id: String(dealId) } },
  );
}
