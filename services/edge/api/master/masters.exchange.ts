import { MasterState } from "#proto/pamm/account/v1/account.ts";
import type { Exchanges } from "../exchange.ts";
import { aMaster, aMasterProfile, aMasterStatus } from "../samples/account.ts";
import { AT, cents, LATER } from "../samples/values.ts";

const SHOWN = {
  engine: "PAMM",
  id: 7,
  mt5_login: "3000001",
  name: "Alpha Strategy",
  strategy_name: "Alpha",
  strategy: "Trend following.",
  investors_count: 2,
  payment_account_login: "3000002",
  min_deposit: 100.5,
} as const;

const CREATED_AT = "2026-01-02T03:04:05.678000";

/** A Master, for the examples of the routes that answer with one or list some. */
const MASTER = { ...SHOWN, created_at: CREATED_AT } as const;

/** The same Master with its labels. */
const MASTER_PROFILE = {
  ...SHOWN,
  email: "ada@example.com",
  external_id: "CRM-7001",
  metadata: { segment: "retail" },
  created_at: CREATED_AT,
} as const;

export const exchanges: Exchanges = {
  createMaster: [
    {
      name: "created",
      summary: "A new Master",
      request: {
        body: {
          first_name: "Ada",
          last_name: "Lovelace",
          name: "Alpha Strategy",
          username: "ada@example.com",
          platform_group: "pamm\\master",
          leverage: "200",
          min_deposit: "100.50",
          strategy_name: "Alpha",
          strategy: "Trend following.",
        },
      },
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
      answer: {
        id: 7,
        mt5_login: "3000001",
        name: "Alpha Strategy",
        strategy_name: "Alpha",
        strategy: "Trend following.",
        created_at: "2026-01-02T03:04:05.678000",
        password: "Main-1234",
        investor_password: "Read-1234",
        payment_account_login: "3000002",
      },
    },
  ],
  registerMaster: [
    {
      name: "registered",
      summary: "Two accounts that exist",
      request: { body: { mt5_login: "3000001", payment_account_login: "3000002", min_deposit: "100.50" } },
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
      answer: {
        engine: "PAMM",
        id: 7,
        mt5_login: "3000001",
        name: "3000001",
        strategy_name: "",
        strategy: "",
        investors_count: 2,
        payment_account_login: "3000002",
        min_deposit: 100.5,
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
  getMaster: [
    {
      name: "master",
      summary: "A Master",
      request: { params: { master_id: "7" } },
      services: { accounts: { getMaster: async () => aMaster({ investorsCount: undefined }) } },
      asked: [{ method: "getMaster", request: { id: 7n } }],
      answer: {
        id: 7,
        mt5_login: "3000001",
        name: "Alpha Strategy",
        strategy_name: "Alpha",
        strategy: "Trend following.",
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
  getMasterProfile: [
    {
      name: "open",
      summary: "Open for new Investors",
      request: { params: { master_id: "7" } },
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
      answer: { ...MASTER_PROFILE, state: "open", since: "2026-01-02T03:04:05.678000", closing: null },
    },
    {
      name: "closing",
      summary: "Being closed, and waiting for open positions",
      request: { params: { master_id: "7" } },
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
      answer: {
        ...MASTER_PROFILE,
        state: "closing",
        since: "2026-01-02T03:04:05.678000",
        closing: {
          investors_left: 2,
          exits_in_progress: 1,
          last_progress_at: "2026-02-03T04:05:06.789000",
          blocked_by: "master_open_positions",
        },
      },
    },
  ],
  updateMaster: [
    {
      name: "min_deposit",
      summary: "Another minimum deposit",
      request: { params: { master_id: "7" }, body: { min_deposit: 0 } },
      services: { accounts: { updateMaster: async () => aMaster({ minDeposit: cents(0n) }) } },
      asked: [{ method: "updateMaster", request: { id: 7n, minDeposit: { currencyCode: "USD", minorUnits: 0n } } }],
      answer: { ...MASTER, min_deposit: 0 },
    },
    {
      name: "payment_account",
      summary: "Another payment account",
      request: { params: { master_id: "7" }, body: { payment_account_login: "3000006" } },
      services: { accounts: { updateMaster: async () => aMaster({ paymentAccountLogin: "3000006" }) } },
      answer: { ...MASTER, payment_account_login: "3000006" },
    },
    {
      name: "not_accepting",
      summary: "No new Investors",
      request: { params: { master_id: "7" }, body: { accepting_investors: false } },
      services: { accounts: { updateMaster: async () => aMaster({ acceptingInvestors: false }) } },
      answer: MASTER,
    },
  ],
  closeMaster: [
    {
      name: "closing",
      summary: "Two Investors begin to leave",
      request: { params: { master_id: "7" } },
      services: { accounts: { closeMaster: async () => aMaster() } },
      asked: [{ method: "closeMaster", request: { id: 7n } }],
      answer: MASTER,
    },
  ],
  listMasters: [
    {
      name: "page",
      summary: "The first page",
      request: { query: { engine: "PAMM" } },
      services: { accounts: { listMasters: async () => ({ items: [aMasterProfile()], hasMore: false }) } },
      asked: [{ method: "listMasters", request: { afterId: 0n, limit: 50 } }],
      answer: {
        items: [MASTER],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
  listMasterProfiles: [
    {
      name: "by_external_id",
      summary: "By your own id",
      request: { query: { external_id: "CRM-7001" } },
      services: { accounts: { listMasters: async () => ({ items: [aMasterProfile()], hasMore: false }) } },
      asked: [{ method: "listMasters", request: { filter: { externalId: "CRM-7001" }, afterId: 0n, limit: 50 } }],
      answer: {
        items: [MASTER_PROFILE],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
  listMasterInvestors: [
    {
      name: "investors",
      summary: "One Investor",
      request: { params: { master_login: "3000001" } },
      services: {
        subscriptions: {
          listActiveInvestors: async () => ({ items: [{ id: 8n, login: "3000003", name: "Ada" }], hasMore: false }),
        },
      },
      asked: [{ method: "listActiveInvestors", request: { masterLogin: "3000001", afterInvestorId: 0n, limit: 500 } }],
      answer: [{ id: 8, mt5_login: "3000003", name: "Ada" }],
    },
  ],
  getMasterWithPasswords: [
    {
      name: "created",
      summary: "An account that was created here",
      request: { params: { master_login: "3000001" } },
      services: {
        accounts: {
          revealMaster: async () => ({ master: aMaster(), mainPassword: "Main-1234", investorPassword: "Read-1234" }),
        },
      },
      asked: [{ method: "revealMaster", request: { login: "3000001" } }],
      answer: {
        id: 7,
        mt5_login: "3000001",
        name: "Alpha Strategy",
        mt5_password: "Main-1234",
        mt5_investor_password: "Read-1234",
        strategy_name: "Alpha",
        strategy: "Trend following.",
        payment_account_login: "3000002",
        min_deposit: 100.5,
        created_at: "2026-01-02T03:04:05.678000",
        investors_count: 2,
      },
    },
  ],
};
