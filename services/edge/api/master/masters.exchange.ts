import { MasterState } from "#proto/pamm/account/v1/account.ts";
import type { Exchanges } from "../exchange.ts";
import { aMaster, aMasterProfile, aMasterStatus } from "../samples/account.ts";
import { AT, cents, LATER, LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  createMaster: [
    {
      name: "created",
      summary: "A new Master",
      request: { body: { leverage: "200", strategy_name: "Alpha", strategy: "Trend following." } },
      services: {
        accounts: {
          createMaster: async () => ({ master: aMaster(), mainPassword: "Main-1234", investorPassword: "Read-1234" }),
        },
      },
      asked: [
        {
          method: "createMaster",
          request: {
            firstName: "Ada",
            lastName: "Lovelace",
            name: "Alpha Strategy",
            username: "ada@example.com",
            platformGroup: "pamm\\master",
            leverage: 200,
            minDeposit: { currencyCode: "USD", minorUnits: 10050n },
            strategyName: "Alpha",
            strategy: "Trend following.",
          },
        },
      ],
    },
  ],
  registerMaster: [
    {
      name: "registered",
      summary: "Two accounts that exist",
      services: {
        accounts: { addMaster: async () => aMaster({ name: "3000001", strategyName: undefined, strategy: undefined }) },
      },
      asked: [
        {
          method: "addMaster",
          request: {
            login: "3000001",
            paymentAccountLogin: "3000002",
            minDeposit: { currencyCode: "USD", minorUnits: 10050n },
          },
        },
      ],
      answer: { name: "3000001", strategy_name: "", strategy: "" },
    },
  ],
  getMaster: [
    {
      name: "master",
      summary: "A Master",
      services: { accounts: { getMaster: async () => aMaster({ investorsCount: undefined }) } },
      asked: [{ method: "getMaster", request: { id: 7n } }],
    },
  ],
  getMasterProfile: [
    {
      name: "open",
      summary: "Open for new Investors",
      services: {
        accounts: {
          getMasterProfile: async () => aMasterProfile(),
          getMasterStatus: async () => aMasterStatus(),
        },
      },
      asked: [
        { method: "getMasterProfile", request: { id: 7n } },
        { method: "getMasterStatus", request: { id: 7n } },
      ],
    },
    {
      name: "closing",
      summary: "Being closed, and waiting for open positions",
      services: {
        accounts: {
          getMasterProfile: async () => aMasterProfile(),
          getMasterStatus: async () =>
            aMasterStatus({
              state: MasterState.CLOSING,
              since: AT,
              closing: {
                investorsLeft: 2n,
                exitsInProgress: 1n,
                lastProgressAt: LATER,
                blockedBy: "master_open_positions",
              },
            }),
        },
      },
      answer: { state: "closing", closing: { last_progress_at: LATER_TEXT, blocked_by: "master_open_positions" } },
    },
  ],
  updateMaster: [
    {
      name: "min_deposit",
      summary: "Another minimum deposit",
      request: { body: { min_deposit: 0 } },
      services: { accounts: { updateMaster: async () => aMaster({ minDeposit: cents(0n) }) } },
      asked: [{ method: "updateMaster", request: { id: 7n, minDeposit: { currencyCode: "USD", minorUnits: 0n } } }],
      answer: { min_deposit: 0 },
    },
    {
      name: "payment_account",
      summary: "Another payment account",
      request: { body: { payment_account_login: "3000006" } },
      services: { accounts: { updateMaster: async () => aMaster({ paymentAccountLogin: "3000006" }) } },
      answer: { payment_account_login: "3000006" },
    },
    {
      name: "not_accepting",
      summary: "No new Investors",
      request: { body: { accepting_investors: false } },
      services: { accounts: { updateMaster: async () => aMaster({ acceptingInvestors: false }) } },
    },
  ],
  closeMaster: [
    {
      name: "closing",
      summary: "Two Investors begin to leave",
      services: { accounts: { closeMaster: async () => aMaster() } },
      asked: [{ method: "closeMaster", request: { id: 7n } }],
    },
  ],
  listMasters: [
    {
      name: "page",
      summary: "The first page",
      services: { accounts: { listMasters: async () => ({ items: [aMasterProfile()], hasMore: false }) } },
      asked: [{ method: "listMasters", request: { afterId: 0n, limit: 50 } }],
    },
  ],
  listMasterProfiles: [
    {
      name: "by_external_id",
      summary: "By your own id",
      request: { query: { external_id: "CRM-7001" } },
      services: { accounts: { listMasters: async () => ({ items: [aMasterProfile()], hasMore: false }) } },
      asked: [{ method: "listMasters", request: { filter: { externalId: "CRM-7001" }, afterId: 0n, limit: 50 } }],
    },
  ],
  listMasterInvestors: [
    {
      name: "investors",
      summary: "One Investor",
      services: {
        subscriptions: {
          listActiveInvestors: async () => ({ items: [{ id: 8n, login: "3000003", name: "Ada" }], hasMore: false }),
        },
      },
      asked: [{ method: "listActiveInvestors", request: { masterLogin: "3000001", afterInvestorId: 0n, limit: 500 } }],
    },
  ],
  getMasterWithPasswords: [
    {
      name: "created",
      summary: "An account that was created here",
      services: {
        accounts: {
          revealMaster: async () => ({ master: aMaster(), mainPassword: "Main-1234", investorPassword: "Read-1234" }),
        },
      },
      asked: [{ method: "revealMaster", request: { login: "3000001" } }],
      answer: { mt5_investor_password: "Read-1234" },
    },
  ],
};
