import type { Client } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { AccountKind, type AccountServiceService, type Investor, type Master } from "#proto/pamm/account/v1/account.ts";

export type AccountFake = {
  readonly client: Client<AccountServiceService>;
  readonly nextLogin: () => string;
  readonly addMaster: (login: string, minDeposit: bigint) => void;
  readonly addInvestor: (login: string) => void;
  readonly setAccepting: (login: string, isAccepting: boolean) => void;
};

const FIRST_LOGIN = 3_000_000n;

/** A stand-in of the account service. Only these methods exist; any other call fails. */
export function accountFake(): AccountFake {
  const masters = new Map<string, Master>();
  const investors = new Map<string, Investor>();
  let lastId = 0n;
  const find = <Account>(accounts: ReadonlyMap<string, Account>, login: string, code: string): Account => {
    const account = accounts.get(login);
    if (account === undefined) throw new Refusal({ code, status: "not_found", message: code });
    return account;
  };
  const client = {
    findMaster: async ({ login }: { login: string }) => find(masters, login, "master_not_found"),
    findInvestor: async ({ login }: { login: string }) => find(investors, login, "investor_not_found"),
    findAccounts: async ({ logins }: { logins: string[] }) => ({
      accounts: [
        ...[...masters.values()].map((master) => ({ ...master, kind: AccountKind.MASTER })),
        ...[...investors.values()].map((investor) => ({ ...investor, kind: AccountKind.INVESTOR })),
      ]
        .filter(({ login }) => logins.includes(login))
        .map(({ id, login, name, kind }) => ({ id, login, name, kind })),
    }),
  };
  return {
    client: client as unknown as Client<AccountServiceService>,
    nextLogin: () => String(FIRST_LOGIN + (lastId += 1n)),
    addMaster: (login, minDeposit) => void masters.set(login, aMasterNamed(login, (lastId += 1n), minDeposit)),
    setAccepting: (login, isAccepting) => {
      masters.set(login, { ...find(masters, login, "master_not_found"), acceptingInvestors: isAccepting });
    },
    addInvestor: (login) => {
      investors.set(login, { id: (lastId += 1n), login, name: `Investor ${login}`, createdAt: undefined });
    },
  };
}

function aMasterNamed(login: string, id: bigint, minDeposit: bigint): Master {
  return {
    id,
    login,
    name: `Master ${login}`,
    strategyName: undefined,
    strategy: undefined,
    paymentAccountLogin: "1",
    minDeposit: moneyToProto(usd(minDeposit)),
    createdAt: undefined,
    investorsCount: 0n,
    acceptingInvestors: true,
  };
}
