import { usd } from "#kernel/money.ts";
import type { EntryKind, Irregularity, LogEntry, Trade } from "../domain/log-entry.ts";
import type { Role } from "../domain/role.ts";

export type TradeRow = {
  action: number | null;
  entry: number | null;
  position_id: bigint | null;
  symbol: string | null;
  volume: bigint | null;
  volume_closed: bigint | null;
  profit_minor: bigint | null;
  swap_minor: bigint | null;
  commission_minor: bigint | null;
  fee_minor: bigint | null;
};

export type LogRow = TradeRow & {
  id: bigint;
  login: string;
  role: Role;
  number: bigint;
  kind: EntryKind;
  amount_minor: bigint;
  operation_number: bigint | null;
  transfer_id: bigint | null;
  key: string;
  deal_id: bigint | null;
  deal_at: Date;
  server_msc: bigint | null;
  irregularity: Irregularity | null;
  deal_state: number;
};

export function entryOf(row: LogRow): LogEntry {
  const { operation_number: operation, transfer_id: transferId, key, deal_id: dealId } = row;
  return {
    id: row.id,
    login: row.login,
    role: row.role,
    number: row.number,
    kind: row.kind,
    amount: usd(row.amount_minor),
    cause: operation === null || transferId === null ? undefined : { operation, transferId, key },
    deal: dealId === null ? undefined : { id: dealId, serverMsc: row.server_msc ?? undefined },
    at: row.deal_at,
    trade: row.kind === "trade" ? tradeOf(row) : undefined,
    irregularity: row.irregularity ?? undefined,
  };
}

/** The table's own checks keep the parts of a trade from being null. */
export function tradeOf(row: TradeRow): Trade {
  return {
    action: row.action ?? 0,
    entry: row.entry ?? 0,
    positionId: row.position_id ?? 0n,
    symbol: row.symbol ?? "",
    volume: row.volume ?? 0n,
    volumeClosed: row.volume_closed ?? 0n,
    profit: usd(row.profit_minor ?? 0n),
    swap: usd(row.swap_minor ?? 0n),
    commission: usd(row.commission_minor ?? 0n),
    fee: usd(row.fee_minor ?? 0n),
  };
}
