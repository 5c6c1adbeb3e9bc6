import { DAY_MS } from "#kernel/values/duration.ts";
import type { Account } from "../../domain/account.ts";
import { effectOf } from "../../domain/deal.ts";
import { formatMoney } from "../../domain/units.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import { dealsOf } from "../../store/books.ts";
import { type PreviousBalances, serverTimeMs, type TradeServer } from "../../trade-server.ts";
import type { WireRecord } from "../reply.ts";
import { EMPTY_API_DATA } from "./api-data.ts";
import { NUMBER_FIELDS, TEXT_FIELDS } from "../user-fields.ts";

export function userRecord(server: TradeServer, account: Account): WireRecord {
  const { login, group, rights, leverage, balance, credit } = account;
  const previous = previousBalances(server, account);
  const [balancePrevDay, balancePrevMonth] = [formatMoney(previous.day), formatMoney(previous.month)];
  return {
    Login: String(login),
    Group: group,
    CertSerialNumber: "0",
    Rights: String(rights),
    Registration: String(account.registeredAt),
    LastAccess: String(account.registeredAt),
    LastPassChange: String(account.passwordChangedAt),
    LastIP: "",
    ...texts(server, account),
    ...Object.fromEntries(NUMBER_FIELDS.map(({ name }) => [name, String(account.numbers[name] ?? 0)])),
    Leverage: String(leverage),
    ClientID: "0",
    Balance: formatMoney(balance),
    Credit: formatMoney(credit),
    InterestRate: "0.00",
    CommissionDaily: "0.00",
    CommissionMonthly: "0.00",
    CommissionAgentDaily: "0.00",
    CommissionAgentMonthly: "0.00",
    BalancePrevDay: balancePrevDay,
    BalancePrevMonth: balancePrevMonth,
    EquityPrevDay: balancePrevDay,
    EquityPrevMonth: balancePrevMonth,
    TradeAccounts: "",
    ApiData: EMPTY_API_DATA,
  };
}

/** Without the right to personal data those fields are empty. */
function texts({ settings }: TradeServer, account: Account): WireRecord {
  const seesPersonal = settings.managerRights.has(MANAGER_RIGHT.personalData);
  return Object.fromEntries(
    TEXT_FIELDS.map(({ name, isPersonal }) => [name, isPersonal && !seesPersonal ? "" : (account.texts[name] ?? "")]),
  );
}

/** The platform takes these values when a day ends, the simulator at the first request of the new day. */
function previousBalances(server: TradeServer, account: Account): PreviousBalances {
  const nowMs = serverTimeMs(server);
  const dayStartMsc = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const known = server.previousBalances.get(account.login);
  if (known?.dayStartMsc === dayStartMsc) return known;
  const day = balanceBefore(server, account, dayStartMsc);
  const month = balanceBefore(server, account, monthStart(nowMs));
  const found = { dayStartMsc, day, month };
  server.previousBalances.set(account.login, found);
  return found;
}

function balanceBefore({ books }: TradeServer, { login, balance }: Account, timeMsc: number): bigint {
  const deals = dealsOf(books, login);
  let before = balance;
  for (let index = deals.length - 1; index >= 0; index -= 1) {
    const deal = deals[index];
    if (deal === undefined || deal.timeMsc < timeMsc) break;
    before -= effectOf(deal).balance;
  }
  return before;
}

function monthStart(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}
