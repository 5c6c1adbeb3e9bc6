import { allowsAmount, LEG_KINDS, type LegKind } from "./leg-kind.ts";
import { readKeyHash } from "./key-hash.ts";
import type { Role } from "./role.ts";

/** Begins the key of a transfer whose records the database has lost. No service may request such a key. */
export const IMPORTED = "imported:";
const IMPORTED_FEE = `${IMPORTED}fee:`;

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

/** The hash of the key of a lost fee, from the key under which its deals are recorded. */
export function hashOfImportedFee(key: string): string | undefined {
  return key.startsWith(IMPORTED_FEE) ? key.slice(IMPORTED_FEE.length) : undefined;
}

/** The key under which the deals of a lost fee are recorded, by the hash of its own key. */
export function importedFeeKey(hash: string): string {
  return IMPORTED_FEE + hash;
}

/** Ends the key of a request that only takes an imported fee over, and debits nothing; the hash of the key of the fee follows. */
const TAKES_OVER = /:imported:([0-9A-Z]{10})$/;

/** The hash of an imported fee that a request takes over; undefined for a fee that may be debited. */
export function takenOverHash(key: string): string | undefined {
  return TAKES_OVER.exec(key)?.[1];
}

function isFee(kind: LegKind): boolean {
  return kind === "fee_debit" || kind === "fee_credit";
}
