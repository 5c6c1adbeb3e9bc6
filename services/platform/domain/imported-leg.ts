import { allowsAmount, LEG_KINDS, type LegKind } from "./leg-kind.ts";
import { readKeyHash } from "./key-hash.ts";
import type { Role } from "./role.ts";

/** Begins the key of a transfer whose records the database has lost. No service may request such a key. */
export const IMPORTED = "imported:";

/** On which accounts the service executes each kind; a reversal is decided by operators, so a lost one is too. */
const ROLE_OF: Readonly<Record<LegKind, Role | undefined>> = {
  deposit: "investor",
  withdrawal: "investor",
  fee_debit: "investor",
  fee_credit: "payment",
  result: "investor",
  mirror: "master",
  exit: "master",
  reversal: undefined,
};

/** A deal with a reference of this service that no leg has. Cents, signed. */
export type LostDeal = { readonly kind: LegKind; readonly amountMinor: bigint; readonly comment: string };

/** Whether its money can be booked as what its reference says; if not, operators decide. */
export function isImportable({ kind, amountMinor }: LostDeal, role: Role): boolean {
  return ROLE_OF[kind] === role && allowsAmount(kind, amountMinor);
}

/** Kinds whose amounts are calculated from books that the deal may be missing in. */
export const CALCULATED: readonly LegKind[] = ["result", "mirror", "exit"];

/** The key under which a lost deal is recorded: debit and credit of one fee share theirs, until the fee is requested again. */
export function importedKey({ kind, comment }: Pick<LostDeal, "kind" | "comment">, ticket: bigint): string {
  const hash = isFee(kind) ? readKeyHash(comment) : undefined;
  return hash === undefined ? `${IMPORTED}${ticket}` : importedFeeKey(hash);
}

/** Debit and credit of a fee are the first and the second leg of a transfer; every other transfer has one. */
export function importedOrdinal(kind: LegKind): 1 | 2 {
  return kind === "fee_credit" ? 2 : 1;
}

export function isExclusive(kind: LegKind): boolean {
  return LEG_KINDS[kind].exclusive;
}

/** The key under which the deals of a lost fee are recorded, by the hash of its own key. */
export function importedFeeKey(hash: string): string {
  return `${IMPORTED}fee:${hash}`;
}

function isFee(kind: LegKind): boolean {
  return kind === "fee_debit" || kind === "fee_credit";
}
