/** Bits of EnUsersRights that change what an account may do here. */
const RIGHT_ENABLED = 0x1;
const RIGHT_TRADE_DISABLED = 0x4;
/** Enabled, password change, trailing, expert, reports. */
export const DEFAULT_RIGHTS = 0x163;
/** Rights are a 32-bit field. */
export const MAX_RIGHTS = 0xffff_ffff;

export const MIN_LEVERAGE = 1;
export const MAX_LEVERAGE = 5_000;
export const DEFAULT_LEVERAGE = 100;

/** Digests: the simulator keeps no password. */
export type Passwords = { readonly main: string; readonly investor: string; readonly api?: string };

export type Account = {
  readonly login: number;
  readonly group: string;
  readonly rights: number;
  readonly leverage: number;
  /** Seconds of the server's wall clock. */
  readonly registeredAt: number;
  readonly passwordChangedAt: number;
  readonly passwords: Passwords;
  /** Under their documented names (Name, ZipCode, Comment); what is not there is empty, or 0. */
  readonly texts: Readonly<Record<string, string>>;
  readonly numbers: Readonly<Record<string, number>>;
  readonly balance: bigint;
  readonly credit: bigint;
  /** Out of the sight of every manager, with its deals, until it is restored. */
  readonly isArchived?: boolean;
};

export function mayTrade({ rights }: Account): boolean {
  return (rights & RIGHT_ENABLED) !== 0 && (rights & RIGHT_TRADE_DISABLED) === 0;
}

/** The server counts 16-bit units, as its wide strings do; half a surrogate pair is dropped. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? limit - 1 : limit);
}
