import type { Exchanges } from "../exchange.ts";
import { anInvestor, anInvestorProfile } from "../samples/account.ts";
import { AT } from "../samples/values.ts";

/** An Investor with its labels. */
const INVESTOR_PROFILE = {
  engine: "PAMM",
  id: 8,
  mt5_login: "3000003",
  name: "Ada",
  email: "ada@example.com",
  external_id: "CRM-7001",
  metadata: { segment: "retail" },
  created_at: "2026-01-02T03:04:05.678000",
} as const;

export const exchanges: Exchanges = {
  createInvestor: [
    {
      name: "created",
      summary: "A new account",
      request: {
        body: {
          first_name: "Ada",
          last_name: "Lovelace",
          name: "Ada",
          username: "ada@example.com",
          platform_group: "pamm\\investor",
        },
      },
      services: {
        accounts: {
          createInvestor: async () => ({
            investor: anInvestor(),
            mainPassword: "Main-1234",
            investorPassword: "Read-1234",
          }),
        },
      },
      asked: [
        {
          method: "createInvestor",
          request: {
            firstName: "Ada",
            lastName: "Lovelace",
            name: "Ada",
            username: "ada@example.com",
            platformGroup: "pamm\\investor",
            leverage: 100,
          },
        },
      ],
      answer: {
        id: 8,
        mt5_login: "3000003",
        name: "Ada",
        created_at: "2026-01-02T03:04:05.678000",
        password: "Main-1234",
        investor_password: "Read-1234",
      },
    },
  ],
  registerInvestor: [
    {
      name: "registered",
      summary: "An account that exists",
      request: { body: { mt5_login: "3000003", name: "Ada" } },
      services: { accounts: { addInvestor: async () => anInvestor() } },
      asked: [{ method: "addInvestor", request: { login: "3000003", name: "Ada" } }],
      answer: { engine: "PAMM", id: 8, mt5_login: "3000003", name: "Ada", created_at: "2026-01-02T03:04:05.678000" },
    },
  ],
  getInvestor: [
    {
      name: "investor",
      summary: "An Investor",
      request: { params: { investor_id: "8" } },
      services: { accounts: { getInvestorProfile: async () => anInvestorProfile() } },
      asked: [{ method: "getInvestorProfile", request: { id: 8n } }],
      answer: INVESTOR_PROFILE,
    },
  ],
  updateInvestor: [
    {
      name: "labels",
      summary: "Another id and one more member of the metadata",
      request: {
        params: { investor_id: "8" },
        body: { external_id: "CRM-7001", metadata: { segment: "retail", lead: null } },
      },
      services: { accounts: { updateInvestor: async () => anInvestorProfile() } },
      asked: [
        {
          method: "updateInvestor",
          request: {
            id: 8n,
            labels: { externalId: "CRM-7001", setMetadata: { segment: "retail" }, removedMetadata: ["lead"] },
          },
        },
      ],
      answer: INVESTOR_PROFILE,
    },
  ],
  listInvestors: [
    {
      name: "page",
      summary: "The first page",
      request: { query: { engine: "PAMM", limit: "1" } },
      services: { accounts: { listInvestors: async () => ({ items: [anInvestorProfile()], hasMore: true }) } },
      asked: [{ method: "listInvestors", request: { afterId: 0n, limit: 1 } }],
      answer: {
        items: [{ engine: "PAMM", id: 8, mt5_login: "3000003", name: "Ada", created_at: "2026-01-02T03:04:05.678000" }],
        next_cursor: "AAAAAAAAAAgE8g_PY4uUmsRG",
        has_more: true,
      },
    },
  ],
  listInvestorProfiles: [
    {
      name: "by_external_id",
      summary: "By your own id",
      request: { query: { external_id: "CRM-7001" } },
      services: { accounts: { listInvestors: async () => ({ items: [anInvestorProfile()], hasMore: false }) } },
      asked: [{ method: "listInvestors", request: { filter: { externalId: "CRM-7001" }, afterId: 0n, limit: 50 } }],
      answer: {
        items: [INVESTOR_PROFILE],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
  getActiveMaster: [
    {
      name: "active",
      summary: "An active Investor",
      request: { params: { investor_login: "3000003" } },
      services: {
        subscriptions: {
          getActiveMaster: async () => ({ masterLogin: "3000001", name: "Alpha Strategy", startedAt: AT }),
        },
      },
      asked: [{ method: "getActiveMaster", request: { investorLogin: "3000003" } }],
      answer: { master_login: "3000001", name: "Alpha Strategy", started_at: "2026-01-02T03:04:05.678000" },
    },
    {
      name: "none",
      summary: "No active Master",
      request: { params: { investor_login: "3000004" } },
      services: {
        subscriptions: {
          getActiveMaster: async () => ({ masterLogin: undefined, name: undefined, startedAt: undefined }),
        },
      },
      answer: { master_login: null, name: null, started_at: null },
    },
  ],
  getInvestorWithPasswords: [
    {
      name: "created",
      summary: "An account that was created here",
      request: { params: { investor_login: "3000003" } },
      services: {
        accounts: {
          revealInvestor: async () => ({
            investor: anInvestor(),
            mainPassword: "Main-1234",
            investorPassword: "Read-1234",
          }),
        },
      },
      asked: [{ method: "revealInvestor", request: { login: "3000003" } }],
      answer: {
        id: 8,
        mt5_login: "3000003",
        name: "Ada",
        mt5_password: "Main-1234",
        mt5_investor_password: "Read-1234",
        created_at: "2026-01-02T03:04:05.678000",
      },
    },
  ],
};
