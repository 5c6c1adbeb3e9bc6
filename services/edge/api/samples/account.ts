import {
  type Investor,
  type InvestorProfile,
  type Master,
  type MasterProfile,
  MasterState,
  type MasterStatus,
} from "#proto/pamm/account/v1/account.ts";
import { AT, cents } from "./values.ts";

export function aMaster(overrides: Partial<Master> = {}): Master {
  return {
    id: 7n,
    login: "3000001",
    name: "Alpha Strategy",
    strategyName: "Alpha",
    strategy: "Trend following.",
    paymentAccountLogin: "3000002",
    minDeposit: cents(100_50n),
    createdAt: AT,
    investorsCount: 2n,
    acceptingInvestors: true,
    ...overrides,
  };
}

export function anInvestor(overrides: Partial<Investor> = {}): Investor {
  return { id: 8n, login: "3000003", name: "Ada", createdAt: AT, ...overrides };
}

const LABELLED = { email: "ada@example.com", labels: { externalId: "CRM-7001", metadata: { segment: "retail" } } };

export function aMasterProfile(overrides: Partial<MasterProfile> = {}): MasterProfile {
  return { master: aMaster(), ...LABELLED, ...overrides };
}

export function aMasterStatus(overrides: Partial<MasterStatus> = {}): MasterStatus {
  return { id: 7n, login: "3000001", state: MasterState.OPEN, since: AT, closing: undefined, ...overrides };
}

export function anInvestorProfile(overrides: Partial<InvestorProfile> = {}): InvestorProfile {
  return { investor: anInvestor(), ...LABELLED, ...overrides };
}
