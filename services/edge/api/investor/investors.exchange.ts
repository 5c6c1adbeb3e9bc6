import type { Exchanges } from "../exchange.ts";
import { anInvestor, anInvestorProfile } from "../samples/account.ts";
import { AT, AT_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  createInvestor: [
    {
      name: "created",
      summary: "A new account",
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
    },
  ],
  registerInvestor: [
    {
      name: "registered",
      summary: "An account that exists",
      services: { accounts: { addInvestor: async () => anInvestor() } },
      asked: [{ method: "addInvestor", request: { login: "3000003", name: "Ada" } }],
    },
  ],
  getInvestor: [
    {
      name: "investor",
      summary: "An Investor",
      services: { accounts: { getInvestorProfile: async () => anInvestorProfile() } },
      asked: [{ method: "getInvestorProfile", request: { id: 8n } }],
    },
  ],
  updateInvestor: [
    {
      name: "labels",
      summary: "Another id and one more member of the metadata",
      request: { body: { external_id: "CRM-7001", metadata: { segment: "retail", lead: null } } },
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
    },
  ],
  listInvestors: [
    {
      name: "page",
      summary: "The first page",
      request: { query: { limit: "1" } },
      services: { accounts: { listInvestors: async () => ({ items: [anInvestorProfile()], hasMore: true }) } },
      asked: [{ method: "listInvestors", request: { afterId: 0n, limit: 1 } }],
      answer: { next_cursor: "AAAAAAAAAAgE8g_PY4uUmsRG", has_more: true },
    },
  ],
  listInvestorProfiles: [
    {
      name: "by_external_id",
      summary: "By your own id",
      request: { query: { external_id: "CRM-7001" } },
      services: { accounts: { listInvestors: async () => ({ items: [anInvestorProfile()], hasMore: false }) } },
      asked: [{ method: "listInvestors", request: { filter: { externalId: "CRM-7001" }, afterId: 0n, limit: 50 } }],
    },
  ],
  getActiveMaster: [
    {
      name: "active",
      summary: "An active Investor",
      services: {
        subscriptions: {
          getActiveMaster: async () => ({ masterLogin: "3000001", name: "Alpha Strategy", startedAt: AT }),
        },
      },
      asked: [{ method: "getActiveMaster", request: { investorLogin: "3000003" } }],
      answer: { started_at: AT_TEXT },
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
      answer: { master_login: null, name: null },
    },
  ],
  getInvestorWithPasswords: [
    {
      name: "created",
      summary: "An account that was created here",
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
      answer: { mt5_investor_password: "Read-1234" },
    },
  ],
};
