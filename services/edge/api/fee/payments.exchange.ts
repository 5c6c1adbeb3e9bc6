import type { Exchanges } from "../exchange.ts";
import { aCredit, aPayment } from "../samples/fee.ts";
import { cents } from "../samples/values.ts";

/** A fee of a week that was paid. */
const FEE_PAYMENT = {
  id: 21,
  run_id: 12,
  run_status: "EXECUTED",
  run_period_start: "2026-01-02T03:04:05.678000",
  run_period_end: "2026-02-03T04:05:06.789000",
  investor_id: 8,
  investor_mt5_login: "3000003",
  amount: 12.34,
  currency: "USD",
  status: "EXECUTED",
  mt5_transfer_id: 77,
  mt5_op_id: 1234569,
  executed_at: "2026-02-03T04:05:06.789000",
  cashflow_id: 31,
  cashflow_unique_key: "PF:3000003:3000001:12:W",
  created_at: "2026-02-03T04:05:06.789000",
} as const;

export const exchanges: Exchanges = {
  listFeePayments: [
    {
      name: "week",
      summary: "A fee of a week",
      request: { params: { master_login: "3000001" }, query: {} },
      services: {
        fees: {
          listInvestorPayments: async () => ({
            masterLogin: "3000001",
            paymentAccountLogin: "3000002",
            items: [aPayment()],
            hasMore: false,
          }),
        },
      },
      asked: [{ method: "listInvestorPayments", request: { masterLogin: "3000001", beforeId: 0n, limit: 100 } }],
      answer: {
        master_login: "3000001",
        payment_account_login: "3000002",
        items: [FEE_PAYMENT],
        next_cursor: null,
        has_more: false,
      },
    },
  ],
  listFeePaymentsOfInvestor: [
    {
      name: "page",
      summary: "The newest payment",
      request: { params: { investor_login: "3000003" }, query: { limit: "1" } },
      services: {
        fees: {
          listPaymentsOfInvestor: async () => ({
            items: [{ payment: aPayment(), masterLogin: "3000001", paymentAccountLogin: "3000002" }],
            hasMore: true,
          }),
        },
      },
      asked: [{ method: "listPaymentsOfInvestor", request: { investorLogin: "3000003", beforeId: 0n, limit: 1 } }],
      answer: {
        investor_login: "3000003",
        items: [
          {
            ...FEE_PAYMENT,
            master_login: "3000001",
            payment_account_login: "3000002",
          },
        ],
        next_cursor: 21,
        has_more: true,
      },
    },
  ],
  listPaymentCredits: [
    {
      name: "page",
      summary: "A fee and a debt",
      request: { query: { master_login: "3000001", limit: "2", cursor: "30" } },
      services: {
        fees: {
          listPaymentCredits: async () => ({
            paymentAccountLogin: "3000002",
            items: [aCredit(), aCredit({ id: 32n, investorLogin: undefined, kind: "PF_DEBT", amount: cents(5n) })],
            hasMore: true,
          }),
        },
      },
      asked: [{ method: "listPaymentCredits", request: { masterLogin: "3000001", afterId: 30n, limit: 2 } }],
      answer: {
        payment_account_login: "3000002",
        items: [
          {
            id: 31,
            master_payment_login: "3000002",
            investor_mt5_login: "3000003",
            kind: "PF",
            amount: 12.34,
            currency: "USD",
            mt5_op_id: 1234570,
            mt5_ts: "2026-01-02T03:04:05.678000",
            created_at: "2026-02-03T04:05:06.789000",
          },
          {
            id: 32,
            master_payment_login: "3000002",
            investor_mt5_login: null,
            kind: "PF_DEBT",
            amount: 0.05,
            currency: "USD",
            mt5_op_id: 1234570,
            mt5_ts: "2026-01-02T03:04:05.678000",
            created_at: "2026-02-03T04:05:06.789000",
          },
        ],
        next_cursor: 32,
        has_more: true,
      },
    },
  ],
};
