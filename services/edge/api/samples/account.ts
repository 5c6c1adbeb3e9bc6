import {
  type Investor,
  type InvestorProfile,
  type Master,
  type MasterProfile,
  MasterState,
  type MasterStatus,
} from "#proto/pamm/account/v1/account.ts";
import { AT, cents, sample } from "./values.ts";

export const aMaster = sample<Master>({
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
});

export const anInvestor = sample<Investor>({ id: 8n, login: "3000003", name: "Ada", createdAt: AT });

const LABELLED = { email: "ada@example.com", labels: { externalId: "CRM-7001", metadata: { segment: "retail" } } };

export const aMasterProfile = sample<MasterProfile>({ master: aMaster(), ...LABELLED });

export const aMasterStatus = sample<MasterStatus>({
  id: 7n,
  login: "3000001",
  state: MasterState.OPEN,
  since: AT,
  closing: undefined,
});

export const anInvestorProfile = sample<InvestorProfile>({ investor: anInvestor(), ...LABELLED });
