import { allowsAmount, LEG_KINDS, type LegKind } from "./leg-kind.ts";
import { BASE32 } from "#kernel/values/base32.ts";
import type { Role } from "./role.ts";

/** Begins the key of a transfer whose records the database has lost. */
const IMPORTED = "imported:";
/** Also in the SQL that lists imported fees. */
const IMPORTED_FEE = "imported:fee:";
const RECORDED_FEE = "fee:imported:";

/** Characters of the hash of a key: 50 bits in Crockford's base32. */
const HASH_LENGTH = 10;
const AFTER_REFERENCE = new RegExp(`^.{14} ([${BASE32}]{${HASH_LENGTH}})(?: |$)`);

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

/** The key under which a lost deal is recorded: debit and credit of one fee share theirs, until the fee is claimed. */
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
  return IMPORTED_FEE + hash;
}

/** Of such a key. */
export function hashOfImportedFee(key: string): string {
  return key.slice(IMPORTED_FEE.length);
}

/** The key that such a transfer has when `fee` has recorded it as a payment of its own, because no payment has that hash. */
export function recordedFeeKey(hash: string): string {
  return RECORDED_FEE + hash;
}

/** Whether a key is one of a transfer that was imported: no service may request it. */
export function isReserved(key: string): boolean {
  return key.startsWith(IMPORTED) || key.startsWith(RECORDED_FEE);
}

function isFee(kind: LegKind): boolean {
  return kind === "fee_debit" || kind === "fee_credit";
}

/** The hash of the key in the comment of an internal movement, after its reference; undefined when it was cut or rewritten. */
export function readKeyHash(comment: string): string | undefined {
  return AFTER_REFERENCE.exec(comment)?.[1];
}
