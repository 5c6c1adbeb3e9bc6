import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import {
  type AccountMoved,
  AccountRole,
  MovementKind,
  type Trade as TradeMessage,
} from "#proto/pamm/platform/v1/movement.ts";
import type { EntryKind, LogEntry, Trade } from "../../domain/log-entry.ts";
import type { Role } from "../../domain/role.ts";

export const MOVEMENTS_FEED = "platform.movements";

const KIND: Readonly<Record<EntryKind, MovementKind>> = {
  opening: MovementKind.OPENING,
  deposit: MovementKind.DEPOSIT,
  withdrawal: MovementKind.WITHDRAWAL,
  fee_debit: MovementKind.FEE_DEBIT,
  fee_credit: MovementKind.FEE_CREDIT,
  result: MovementKind.RESULT,
  mirror: MovementKind.MIRROR,
  exit: MovementKind.EXIT,
  reversal: MovementKind.REVERSAL,
  external: MovementKind.EXTERNAL,
  trade: MovementKind.TRADE,
  amendment: MovementKind.AMENDMENT,
  correction: MovementKind.CORRECTION,
};
const ROLE: Readonly<Record<Role, AccountRole>> = {
  master: AccountRole.MASTER,
  payment: AccountRole.PAYMENT,
  investor: AccountRole.INVESTOR,
};
const ROLES = Object.entries(ROLE).map(([role, number]) => [number, role as Role] as const);
const ROLE_BY_NUMBER = new Map<number, Role>(ROLES);
const KINDS = Object.entries(KIND).map(([kind, number]) => [number, kind as EntryKind] as const);
const KIND_BY_NUMBER = new Map<number, EntryKind>(KINDS);

export function subjectOfMovement(login: string): string {
  return `mirror.v1.moved.${login}`;
}

/** An entry of the log as other services see it, in the feed and in ReadLog. */
export function accountMoved(entry: LogEntry): AccountMoved {
  return {
    login: entry.login,
    role: ROLE[entry.role],
    number: entry.number,
    entryId: entry.id,
    kind: KIND[entry.kind],
    key: entry.cause?.key ?? "",
    transferId: entry.cause?.transferId ?? 0n,
    amount: moneyToProto(entry.amount),
    dealId: entry.deal?.id ?? 0n,
    dealAt: entry.at,
    trade: entry.trade && tradeMessage(entry.trade),
    reason: entry.amendment ?? "",
    dealAction: entry.label?.action ?? entry.trade?.action ?? 0,
    dealComment: entry.label?.comment ?? "",
  };
}

export function roleToProto(role: Role | undefined): AccountRole {
  return role === undefined ? AccountRole.UNSPECIFIED : ROLE[role];
}

export function roleFromProto(role: AccountRole): Role | undefined {
  return ROLE_BY_NUMBER.get(role);
}

export function kindToProto(kind: EntryKind): MovementKind {
  return KIND[kind];
}

export function kindFromProto(kind: MovementKind): EntryKind | undefined {
  return KIND_BY_NUMBER.get(kind);
}

function tradeMessage({ profitMinor, swapMinor, commissionMinor, feeMinor, ...trade }: Trade): TradeMessage {
  return {
    ...trade,
    profit: moneyToProto(usd(profitMinor)),
    swap: moneyToProto(usd(swapMinor)),
    commission: moneyToProto(usd(commissionMinor)),
    fee: moneyToProto(usd(feeMinor)),
  };
}
