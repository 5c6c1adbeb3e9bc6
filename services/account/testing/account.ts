import { randomBytes, randomInt } from "node:crypto";
import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { createLog } from "#kernel/process/log.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { Secret } from "#kernel/values/secret.ts";
import type { AddMasterRequest, CreateInvestorRequest, CreateMasterRequest } from "#proto/pamm/account/v1/account.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { CreateAccountRequest, InspectClosingResponse } from "#proto/pamm/platform/v1/platform.ts";
import { type Closing, ClosingState, type Subscription } from "#proto/pamm/subscription/v1/subscription.ts";
import { testDatabase } from "#test/support/database.ts";
import type { Deps } from "../deps.ts";
import { generatePassword } from "../domain/password.ts";
import { createCredentialCipher } from "../credential-cipher.ts";
import { directoryReads } from "../store/directory-reads.ts";

/** A fault of one call of createAccount; a refusal of unknown outcome comes after the account was created. */
export type Fault = "lost answer" | "unreachable" | Refusal;

export type PlatformFake = Deps["platform"] & {
  readonly created: Map<string, CreateAccountRequest & { readonly login: string }>;
  readonly existing: Set<string>;
  readonly adopted: { login: string; role: AccountRole }[];
  readonly disabled: string[];
  /** What still has to end on every account. */
  readonly closing: { -readonly [Name in keyof InspectClosingResponse]: InspectClosingResponse[Name] };
  /** The logins of each erasure that was executed. */
  readonly erased: string[];
  /** What each next erasure does: `lost answer` after it was executed. */
  readonly erasures: ("lost answer" | "unreachable" | "rejected" | "not shown")[];
  /** The fault of each next creation; undefined: none. */
  readonly faults: (Fault | undefined)[];
};

export type World = Omit<Deps, "platform"> & {
  readonly platform: PlatformFake;
  readonly counts: { masterLogin: string; investors: bigint }[];
  /** Those that have not ended. */
  readonly openSubscriptions: Subscription[];
  /** By Master. */
  readonly closings: Map<string, Closing>;
  /** Where fee pays to, by Master, after a change. */
  readonly payingTo: Map<string, string>;
  /** What each next change of fee does: `lost answer` after it was changed. */
  readonly feeFaults: ("lost answer" | "unreachable" | "fees_in_progress")[];
};

/** The account service with a real database; other services are fakes in memory. */
export async function world(): Promise<World> {
  const { pool } = await testDatabase("account");
  const counts: World["counts"] = [];
  const openSubscriptions: Subscription[] = [];
  const closings: World["closings"] = new Map();
  const payingTo: World["payingTo"] = new Map();
  const feeFaults: World["feeFaults"] = [];
  return {
    pool,
    reads: directoryReads(pool),
    counts,
    openSubscriptions,
    closings,
    payingTo,
    feeFaults,
    fees: {
      async changePaymentAccount({ masterLogin, to }) {
        const fault = feeFaults.shift();
        if (fault === "unreachable") throw serviceUnavailable("fee");
        if (fault === "fees_in_progress" && payingTo.get(masterLogin) !== to) {
          throw new Refusal({ code: fault, status: "conflict", message: "Fees.", outcome: "not_executed" });
        }
        payingTo.set(masterLogin, to);
        if (fault === "lost answer") throw outcomeUnknown("fee");
        return {};
      },
    },
    platform: platformFake(),
    subscriptions: {
      countActiveInvestors: async () => ({ counts }),
      findOpenSubscription: async (request) => ({
        subscription: openSubscriptions.find(({ investorLogin }) => investorLogin === request.investorLogin),
      }),
      getClosing: async ({ masterLogin }) => ({ closing: closings.get(masterLogin) }),
      closeMaster: async ({ masterLogin }) => {
        if (!closings.has(masterLogin)) closings.set(masterLogin, aClosing({ masterLogin }));
        return {};
      },
    },
    credentialCipher: createCredentialCipher([aKey()]),
    newPassword: () => generatePassword((bound) => randomInt(bound)),
    log: createLog({ service: "account", level: "silent" }),
    now: () => new Date(),
  };
}

export function aClosing(parts: Partial<Closing> = {}): Closing {
  return {
    masterLogin: "3000001",
    state: ClosingState.CLOSING,
    requestedAt: new Date("2027-02-03T04:05:06.789Z"),
    archivedAt: undefined,
    progressedAt: new Date("2027-02-03T04:06:06.789Z"),
    investorsLeft: 2n,
    exitsInProgress: 1n,
    blockedBy: undefined,
    ...parts,
  };
}

export function aKey(): Secret<Buffer> {
  return new Secret(randomBytes(32));
}

export function aCall(commandId = "", withinMs = 10_000): CallContext {
  return callContext({ caller: "edge", commandId, withinMs });
}

export function usd(minorUnits: bigint) {
  return { currencyCode: "USD", minorUnits };
}

export function aMaster(parts: Partial<CreateMasterRequest> = {}): CreateMasterRequest {
  return {
    firstName: "Mia",
    lastName: "Stone",
    name: "Alpha",
    username: "mia@example.com",
    platformGroup: "pamm\\master",
    leverage: 100,
    minDeposit: usd(500_00n),
    strategyName: "Trend",
    strategy: undefined,
    ...parts,
  };
}

export function anInvestor(parts: Partial<CreateInvestorRequest> = {}): CreateInvestorRequest {
  return {
    firstName: "Ivy",
    lastName: "Irving",
    name: "Ivy",
    username: "ivy@example.com",
    platformGroup: "pamm\\investor",
    leverage: 100,
    ...parts,
  };
}

/** A change of the first Master. */
export const UNCHANGED = {
  id: 1n,
  name: undefined,
  strategyName: undefined,
  strategy: undefined,
  minDeposit: undefined,
};

export function aRegistration(parts: Partial<AddMasterRequest> = {}): AddMasterRequest {
  return {
    login: "5001",
    paymentAccountLogin: "6001",
    name: undefined,
    strategyName: undefined,
    strategy: undefined,
    minDeposit: usd(0n),
    ...parts,
  };
}

/** A refusal of createAccount. */
export function refusedWith(
  code: "group_not_allowed" | "login_in_use" | "platform_rejected",
  outcome: Refusal["outcome"] = "not_executed",
): Refusal {
  const statuses = { group_not_allowed: "invalid", platform_rejected: "rejected" } as const;
  const status = code in statuses ? statuses[code as keyof typeof statuses] : "conflict";
  return new Refusal({ code, status, message: "Refused.", outcome, details: { mt5_login: "3000009" } });
}

function platformFake(): PlatformFake {
  const fake: PlatformFake = {
    created: new Map(),
    existing: new Set(),
    adopted: [],
    disabled: [],
    closing: { balance: usd(0n), credit: usd(0n), openPositions: 0, operationOpen: false },
    erased: [],
    erasures: [],
    faults: [],
    async createAccount(request) {
      const fault = fake.faults.shift();
      if (fault === "unreachable") throw serviceUnavailable("platform");
      if (fault instanceof Refusal && fault.outcome === "not_executed") throw fault;
      const known = fake.created.get(request.key);
      const login = known?.login ?? String(3_000_001 + fake.created.size);
      fake.created.set(request.key, { ...request, login });
      if (fault === "lost answer") throw outcomeUnknown("platform");
      if (fault instanceof Refusal) throw fault;
      return { login };
    },
    async disableAccount({ login }) {
      fake.disabled.push(login);
      return {};
    },
    inspectClosing: async () => fake.closing,
    async eraseAccount({ login }) {
      const kind = fake.erasures.shift();
      if (kind === "unreachable") throw serviceUnavailable("platform");
      if (kind === "rejected") {
        throw new Refusal({ code: "platform_rejected", status: "rejected", message: "Refused with code 8." });
      }
      if (kind === "not shown") return { shown: false };
      fake.erased.push(login);
      if (kind === "lost answer") throw outcomeUnknown("platform");
      return { shown: true };
    },
    inspectAccounts: async ({ logins }) => ({
      accounts: logins.map((login) => ({
        login,
        exists: fake.existing.has(login),
        group: "",
        role: AccountRole.UNSPECIFIED,
      })),
    }),
    async adoptAccount({ login, role }) {
      fake.adopted.push({ login, role });
      return { login, group: "", balance: usd(0n) };
    },
  };
  return fake;
}
