import { byKey, type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { type Credential, listCredentialsByLogin } from "./credentials.ts";
import { listInvestorsByLogin } from "./investors.ts";
import { listMastersById, listMastersByLogin } from "./masters.ts";
import type { Investor, Master } from "../domain/master.ts";

/** The reads that every other service and most routes ask for: calls that wait at the same time are one statement. */
export type DirectoryReads = {
  readonly masterById: GatheredRead<bigint, Master>;
  readonly masterByLogin: GatheredRead<string, Master>;
  readonly investorByLogin: GatheredRead<string, Investor>;
  /** Of an Investor or the trading account of a Master. */
  readonly credentialsByLogin: GatheredRead<string, readonly Credential[]>;
};

export function directoryReads(db: Queryable): DirectoryReads {
  return {
    masterById: gatherReads(async (ids) => byKey(await listMastersById(db, ids), ({ id }) => id)),
    masterByLogin: gatherReads(async (logins) => byKey(await listMastersByLogin(db, logins), ({ login }) => login)),
    investorByLogin: gatherReads(async (logins) => byKey(await listInvestorsByLogin(db, logins), ({ login }) => login)),
    credentialsByLogin: gatherReads(async (logins) =>
      Map.groupBy(await listCredentialsByLogin(db, logins), ({ login }) => login),
    ),
  };
}
